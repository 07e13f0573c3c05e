import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { sendRequest } from './requests.ts'

const service = createDataService({ chains: { lab: [] } })

test.for([
  { query: '', ids: ['1', '42161', '43114', 'lab'] },
  { query: '?network=mainnet', ids: ['1'] },
  { query: '?network=fuji', ids: ['42161', '43114', 'lab'] },
  { query: '?network=testnet&feature=webhooks', ids: ['42161', '43114', 'lab'] },
  { query: '?feature=nftIndexing', ids: ['1', '42161', '43114', 'lab'] },
  { query: '?feature=teleporter', ids: [] },
])('lists the chains $ids for the query "$query"', async ({ query, ids }) => {
  const { status, body } = await sendRequest(service, `GET /v1/chains${query}`)
  expect(status).toBe(200)
  expect(body.chains.map((chain: { chainId: string }) => chain.chainId).sort()).toEqual(ids)
})

test('returns a single chain as in the list', async () => {
  const { body } = await sendRequest(service, 'GET /v1/chains')
  const single = await sendRequest(service, 'GET /v1/chains/43114')
  expect(single.status).toBe(200)
  expect(body.chains).toContainEqual(single.body)
  expect(single.body).toMatchObject({
    chainId: '43114',
    status: 'OK',
    vmName: 'EVM',
    networkToken: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
  })
})

test.for([
  { request: 'GET /v1/chains/2', status: 404, message: 'expected one of' },
  { request: 'GET /v1/chains/constructor', status: 404, message: 'expected one of' },
  { request: 'GET /v1/chains?network=moon', status: 400, message: 'network must be mainnet or' },
  { request: 'GET /v1/chains?feature=', status: 400, message: 'feature must be nftIndexing or' },
])('rejects $request with $status', async ({ request, status, message }) => {
  const response = await sendRequest(service, request)
  expect(response.status).toBe(status)
  expect(response.body.message).toContain(message)
})
