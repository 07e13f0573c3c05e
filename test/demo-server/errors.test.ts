import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { blockPath, fetchJson, walletPath } from './requests.ts'

const service = createDataService()
const ADDRESS = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const REASONS = { 400: 'Bad Request', 404: 'Not Found' } as const
const TOO_LARGE = '9007199254740992'

test.for([
  { url: walletPath(ADDRESS, '', '2'), status: 404, message: 'expected one of 43114, 1' },
  { url: blockPath(1, '', 'constructor'), status: 404, message: 'chain "constructor"' },
  { url: walletPath('0x123'), status: 400, message: '0x and 40 hex digits' },
  { url: walletPath(ADDRESS.slice(2)), status: 400, message: '0x and 40 hex digits' },
  { url: walletPath(`${ADDRESS.slice(0, -1)}g`), status: 400, message: '0x and 40 hex digits' },
  { url: walletPath(`${ADDRESS}%2Fx`), status: 400, message: '0x and 40 hex digits' },
  {
    url: walletPath(ADDRESS, 'startBlock=-1'),
    status: 400,
    message: 'startBlock must be a whole number from 0',
  },
  { url: walletPath(ADDRESS, 'startBlock=1.5'), status: 400, message: 'startBlock must be' },
  { url: walletPath(ADDRESS, 'startBlock=0x10'), status: 400, message: 'startBlock must be' },
  { url: walletPath(ADDRESS, 'startBlock=1e2'), status: 400, message: 'startBlock must be' },
  { url: walletPath(ADDRESS, 'startBlock='), status: 400, message: 'but is ""' },
  { url: walletPath(ADDRESS, 'startBlock=+1'), status: 400, message: 'but is " 1"' },
  { url: walletPath(ADDRESS, `startBlock=${TOO_LARGE}`), status: 400, message: 'to 9007199254740991' },
  { url: walletPath(ADDRESS, 'startBlock=1&startBlock=1'), status: 400, message: 'given 2 times' },
  { url: walletPath(ADDRESS, 'endBlock=-5'), status: 400, message: 'endBlock must be' },
  { url: walletPath(ADDRESS, 'endBlock=latest'), status: 400, message: 'endBlock must be' },
  { url: walletPath(ADDRESS, 'endBlock=0'), status: 400, message: 'startBlock must be below endBlock' },
  { url: walletPath(ADDRESS, 'startBlock=7&endBlock=7'), status: 400, message: 'they are 7 and 7' },
  { url: walletPath(ADDRESS, 'startBlock=8&endBlock=7'), status: 400, message: 'they are 8 and 7' },
  { url: walletPath(ADDRESS, 'pageSize=0'), status: 400, message: 'from 1 to 100' },
  { url: walletPath(ADDRESS, 'pageSize=101'), status: 400, message: 'from 1 to 100' },
  { url: walletPath(ADDRESS, 'pageSize=ten'), status: 400, message: 'but is "ten"' },
  { url: walletPath(ADDRESS, 'sortOrder=ASC'), status: 400, message: 'asc or desc' },
  { url: walletPath(ADDRESS, 'sortOrder='), status: 400, message: 'asc or desc' },
  {
    url: walletPath(ADDRESS, 'sortOrder=asc&sortOrder=desc'),
    status: 400,
    message: 'sortOrder must be given once',
  },
  { url: walletPath(ADDRESS, 'pageToken='), status: 400, message: 'pageToken is not valid' },
  { url: walletPath(ADDRESS, 'pageToken=garbage'), status: 400, message: 'pageToken is not valid' },
  { url: walletPath(ADDRESS, 'colour=%zz'), status: 400, message: 'well formed' },
  { url: walletPath('%E0%A4%A'), status: 400, message: 'well formed' },
  { url: walletPath('%ff'), status: 400, message: 'well formed' },
  { url: blockPath(421), status: 404, message: 'chain 43114 has no block 421' },
  { url: blockPath(`0x${'0'.repeat(64)}`), status: 404, message: 'has no block' },
  { url: blockPath('latest'), status: 400, message: 'a block number, or a block hash' },
  { url: blockPath('-1'), status: 400, message: 'a block number, or a block hash' },
  { url: blockPath('0x12'), status: 400, message: 'a block number, or a block hash' },
  { url: blockPath(TOO_LARGE), status: 400, message: 'a block number, or a block hash' },
  { url: blockPath(1, 'pageSize=101'), status: 400, message: 'from 0 to 100' },
  { url: blockPath(1, 'pageSize=-1'), status: 400, message: 'from 0 to 100' },
  { url: blockPath(1, 'pageToken=AAAA'), status: 400, message: 'pageToken is not valid' },
  { url: '/v1/chains/43114/blocks', status: 404, message: 'GET / lists the operations' },
  { url: '/v1/webhooks:forget', status: 404, message: 'GET / lists the operations' },
  { url: '/v2/chains/43114/blocks/1/transactions', status: 404, message: 'is not served here' },
  { url: `${walletPath(ADDRESS)}/`, status: 404, message: 'is not served here' },
  { url: '/v1/chains//blocks/1/transactions', status: 404, message: 'is not served here' },
  { url: '/v1/chains/43114/tokens/1/transactions', status: 404, message: 'is not served here' },
  { url: '*', status: 404, message: 'is not served here' },
] as const)('rejects $url with $status and a message', async ({ url, status, message }) => {
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
