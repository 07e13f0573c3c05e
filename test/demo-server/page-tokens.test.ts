import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { blockPath, fetchJson, walletPath, withToken } from './requests.ts'

const service = createDataService()
const ADDRESS = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const OTHER = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
const QUERY = 'pageSize=5&startBlock=10&endBlock=400&sortOrder=asc'

async function firstToken(url: string): Promise<string> {
  const { body } = await fetchJson(service, url)
  if (body.nextPageToken === undefined) throw new Error(`${url} has one page only`)
  return body.nextPageToken
}

test('accepts a token repeatedly for its own query, also if the query is written differently', async () => {
  const token = await firstToken(walletPath(ADDRESS, QUERY))
  const once = await fetchJson(service, withToken(walletPath(ADDRESS, QUERY), token))
  const again = await fetchJson(service, withToken(walletPath(ADDRESS.toLowerCase(), `x=1&${QUERY}`), token))
  expect(once.status).toBe(200)
  expect(again.body).toEqual(once.body)
})

test.for([
  { other: 'address', url: walletPath(OTHER, QUERY) },
  { other: 'page size', url: walletPath(ADDRESS, QUERY.replace('pageSize=5', 'pageSize=6')) },
  { other: 'start block', url: walletPath(ADDRESS, QUERY.replace('startBlock=10', 'startBlock=11')) },
  { other: 'end block', url: walletPath(ADDRESS, QUERY.replace('endBlock=400', 'endBlock=401')) },
  { other: 'open end', url: walletPath(ADDRESS, QUERY.replace('endBlock=400&', '')) },
  { other: 'order', url: walletPath(ADDRESS, QUERY.replace('asc', 'desc')) },
  { other: 'chain', url: walletPath(ADDRESS, QUERY, '1') },
  { other: 'listing', url: blockPath(237, 'pageSize=5') },
])('rejects a token for another $other', async ({ url }) => {
  const token = await firstToken(walletPath(ADDRESS, QUERY))
  expect((await fetchJson(service, withToken(url, token))).status).toBe(400)
})

test('rejects the token of one block for another block', async () => {
  const token = await firstToken(blockPath(237))
  expect((await fetchJson(service, withToken(blockPath(237), token))).status).toBe(200)
  expect((await fetchJson(service, withToken(blockPath(236), token))).status).toBe(400)
})

test('rejects a token with any single character changed', async () => {
  const url = walletPath(ADDRESS, QUERY)
  const token = await firstToken(url)
  for (const [at, character] of [...token].entries()) {
    const forged = `${token.slice(0, at)}${character === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    expect((await fetchJson(service, withToken(url, forged))).status).toBe(400)
  }
  for (const forged of [`${token}A`, `${token}=`, ` ${token}`, token.slice(0, -1)]) {
    expect((await fetchJson(service, withToken(url, forged))).status).toBe(400)
  }
})

test('rejects the token of another service', async () => {
  const url = walletPath(ADDRESS, QUERY)
  expect((await fetchJson(createDataService(), withToken(url, await firstToken(url)))).status).toBe(400)
})
