import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { OPERATIONS } from '../../src/demo-server/operations.ts'
import { sendRequest } from './requests.ts'

const VALUES = {
  chainId: '43114',
  address: '0xD136BcEe353d0F6Faa20AbF909A612884CeE5bF1',
  blockId: '237',
  txHash: '0xadb44c4887548de5619552d6cbcde3f198dfdefdfd4cbe318634f4457b01596d',
  tokenId: '1',
  id: 'none',
  network: 'mainnet',
  blockchainId: 'c-chain',
} as const

/** One request per operation that matches its route. */
const REQUESTS = Object.values(OPERATIONS).map(({ method, path }) => {
  const url = path.replace(/\{(\w+)\}/g, (_, name) => VALUES[name as keyof typeof VALUES])
  return `${method} ${url}`
})

test.for(REQUESTS)('checks the key and the quota at %s', async (request) => {
  const service = createDataService({ keys: ['k'], quota: { perSecond: 1, burst: 1 }, now: () => 0 })
  expect((await sendRequest(service, request)).status).toBe(401)
  expect((await sendRequest(service, request, { key: 'wrong' })).status).toBe(403)
  const admitted = await sendRequest(service, request, { key: 'k', body: {} })
  expect(admitted.headers['ratelimit-remaining']).toBe('0')
  expect(admitted.body.message ?? '').not.toContain('is not served here')
  const refused = await sendRequest(service, request, { key: 'k' })
  expect([refused.status, refused.body.error]).toEqual([429, 'Too Many Requests'])
  expect(refused.headers['retry-after']).toBe('1')
})

test('returns 503 after close', async () => {
  const service = createDataService()
  service.close()
  expect((await sendRequest(service, 'GET /v1/chains')).body).toMatchObject({ statusCode: 503 })
})

test('lists every operation on the index page', async () => {
  const { body } = await sendRequest(createDataService(), 'GET /')
  expect(body.endpoints.map(({ path }: { path: string }) => path)).toEqual(
    Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`),
  )
})

test.for(REQUESTS)('serves the path of %s with no other method', async (request) => {
  const url = request.split(' ')[1]
  for (const method of ['PUT', 'HEAD', 'OPTIONS']) {
    const response = await sendRequest(createDataService(), `${method} ${url}`)
    expect(response.body).toMatchObject({ statusCode: 404, error: 'Not Found' })
    expect(response.body.message).toContain(`${method} ${url} is not served here`)
  }
})
