import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { blockPath, fetchJson, walletPath } from './requests.ts'

const service = createDataService()
const ADDRESS = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const REASONS = { 400: 'Bad Request', 404: 'Not Found' } as const
const TOO_LARGE = '9007199254740992'

const INVALID_QUERIES: readonly [query: string, message: string][] = [
  ['startBlock=-1', 'startBlock must be a whole number from 0'],
  ['startBlock=1.5', 'startBlock must be'],
  ['startBlock=0x10', 'startBlock must be'],
  ['startBlock=1e2', 'startBlock must be'],
  ['startBlock=', 'but is ""'],
  ['startBlock=+1', 'but is " 1"'],
  [`startBlock=${TOO_LARGE}`, 'to 9007199254740991'],
  ['startBlock=1&startBlock=1', 'given 2 times'],
  ['endBlock=-5', 'endBlock must be'],
  ['endBlock=latest', 'endBlock must be'],
  ['endBlock=0', 'startBlock must be below endBlock'],
  ['startBlock=7&endBlock=7', 'they are 7 and 7'],
  ['startBlock=8&endBlock=7', 'they are 8 and 7'],
  ['pageSize=0', 'from 1 to 100'],
  ['pageSize=101', 'from 1 to 100'],
  ['pageSize=ten', 'but is "ten"'],
  ['sortOrder=ASC', 'asc or desc'],
  ['sortOrder=', 'asc or desc'],
  ['sortOrder=asc&sortOrder=desc', 'sortOrder must be given once'],
  ['pageToken=', 'pageToken is not valid'],
  ['pageToken=garbage', 'pageToken is not valid'],
  ['colour=%zz', 'well formed'],
]
const INVALID_PATHS: readonly [url: string, message: string][] = [
  [walletPath('0x123'), '0x and 40 hex digits'],
  [walletPath(ADDRESS.slice(2)), '0x and 40 hex digits'],
  [walletPath(`${ADDRESS.slice(0, -1)}g`), '0x and 40 hex digits'],
  [walletPath(`${ADDRESS}%2Fx`), '0x and 40 hex digits'],
  [walletPath('%E0%A4%A'), 'well formed'],
  [walletPath('%ff'), 'well formed'],
  [blockPath('latest'), 'a block number, or a block hash'],
  [blockPath('-1'), 'a block number, or a block hash'],
  [blockPath('0x12'), 'a block number, or a block hash'],
  [blockPath(TOO_LARGE), 'a block number, or a block hash'],
  [blockPath(1, 'pageSize=101'), 'from 0 to 100'],
  [blockPath(1, 'pageSize=-1'), 'from 0 to 100'],
  [blockPath(1, 'pageToken=AAAA'), 'pageToken is not valid'],
]
const UNKNOWN: readonly [url: string, message: string][] = [
  [walletPath(ADDRESS, '', '2'), 'expected one of 43114, 1, 42161'],
  [blockPath(1, '', 'constructor'), 'chain "constructor"'],
  [blockPath(421), 'chain 43114 has no block 421'],
  [blockPath(`0x${'0'.repeat(64)}`), 'has no block'],
  ['/v1/chains/43114/blocks', 'GET / lists the operations'],
  ['/v1/webhooks:forget', 'GET / lists the operations'],
  ['/v2/chains/43114/blocks/1/transactions', 'is not served here'],
  [`${walletPath(ADDRESS)}/`, 'is not served here'],
  ['/v1/chains//blocks/1/transactions', 'is not served here'],
  ['/v1/chains/43114/tokens/1/transactions', 'is not served here'],
  ['*', 'is not served here'],
]

test.for([
  ...INVALID_QUERIES.map(([query, message]) => [400, walletPath(ADDRESS, query), message] as const),
  ...INVALID_PATHS.map(([url, message]) => [400, url, message] as const),
  ...UNKNOWN.map(([url, message]) => [404, url, message] as const),
])('responds with %i and a message to %s', async ([status, url, message]) => {
  const response = await fetchJson(service, url)
  const { message: actual, ...rest } = response.body
  expect(response.status).toBe(status)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(rest).toEqual({ statusCode: status, error: REASONS[status] })
  expect(actual).toContain(message)
})

test.for(['POST', 'PUT', 'DELETE', 'HEAD'])('serves nothing with the method %s', async (method) => {
  for (const path of ['/', walletPath(ADDRESS)]) {
    const response = await service.handle({ method, url: `${path}?pageSize=1`, headers: {} })
    expect(response.status).toBe(404)
    expect(JSON.parse(response.body).message).toContain(`${method} ${path} is not served here`)
  }
})

test('reveals no details of an internal error', async () => {
  const seen: unknown[] = []
  const broken = new Proxy([], {
    get() {
      throw new Error('internal detail')
    },
  })
  const failing = createDataService({
    chains: { '7': broken },
    onInternalError: (thrown) => seen.push(thrown),
  })
  const response = await fetchJson(failing, walletPath(ADDRESS, '', '7'))
  expect(response.status).toBe(500)
  expect(response.body).toEqual({
    message: 'The service failed to answer this request.',
    statusCode: 500,
    error: 'Internal Server Error',
  })
  expect(String(seen)).toContain('internal detail')
})

test('lists example requests that work on the index page', async () => {
  const { body } = await fetchJson(service, '/?utm_source=readme')
  const { wallets } = body as unknown as { wallets: { url: string }[] }
  expect(wallets.length).toBeGreaterThan(3)
  for (const { url } of wallets) expect((await fetchJson(service, url)).status).toBe(200)
})
