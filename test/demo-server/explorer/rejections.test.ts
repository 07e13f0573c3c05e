import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { BUSIEST, openExplorer } from './requests.ts'

const LISTING = { action: 'txlist', address: BUSIEST, offset: 1 }
const TOO_LARGE = 'Result window is too large, PageNo x Offset size must be less than or equal to 10000'

test.for([
  { sent: { ...LISTING, chainid: 5 }, result: expect.stringContaining('unsupported chainid') },
  { sent: { ...LISTING, module: 'none' }, result: 'Error! Missing Or invalid Module name' },
  { sent: { ...LISTING, action: 'constructor' }, result: 'Error! Missing Or invalid Action name' },
  { sent: { ...LISTING, address: '0x12' }, result: 'Error! Invalid address format' },
  { sent: { ...LISTING, contractaddress: 'x' }, result: 'Error! Invalid address format' },
])('Etherscan answers $sent with HTTP 200 and status 0', async ({ sent, result }) => {
  const { status, body } = await openExplorer('etherscan')(sent)
  expect({ status, body }).toEqual({ status: 200, body: { status: '0', message: 'NOTOK', result } })
})

test.for([
  { sent: { ...LISTING, chainid: 5 }, status: 404, message: 'Not found' },
  { sent: { ...LISTING, module: 'none' }, status: 400, message: 'Unknown module' },
  { sent: { ...LISTING, action: 'none' }, status: 400, message: 'Unknown action' },
  { sent: { ...LISTING, address: '0x12' }, status: 200, message: 'Invalid address format' },
])('Blockscout answers $sent with $status', async ({ sent, status, message }) => {
  const answer = await openExplorer('blockscout')(sent)
  expect(answer).toEqual({ status, body: { status: '0', message, result: null } })
})

test.for(['etherscan', 'blockscout'] as const)(
  '%s shows the first 10,000 records of a range',
  async (api) => {
    const ask = openExplorer(api)
    const refused = await ask({ ...LISTING, page: 2, offset: 5_001 })
    expect(refused).toEqual({ status: 200, body: { status: '0', message: TOO_LARGE, result: null } })
    expect((await ask({ ...LISTING, page: 2, offset: 5_000 })).body.message).toBe('No transactions found')
  },
)

test.for([
  { api: 'etherscan', key: undefined, status: 200, result: 'Missing/Invalid API Key' },
  { api: 'etherscan', key: 'wrong', status: 200, result: 'Invalid API Key' },
  { api: 'blockscout', key: undefined, status: 401, result: null },
  { api: 'blockscout', key: 'wrong', status: 401, result: null },
] as const)(
  '$api refuses the key $key before it looks at the request',
  async ({ api, key, status, result }) => {
    const ask = openExplorer(api, { keys: ['right'] })
    const apikey = key === undefined ? {} : { apikey: key }
    const answer = await ask({ ...apikey, module: 'none', chainid: 5 })
    expect(answer).toMatchObject({ status, body: { status: '0', result } })
    expect((await ask({ ...LISTING, apikey: 'right' })).body.status).toBe('1')
  },
)

test.for(['etherscan', 'blockscout'] as const)(
  '%s refuses requests above the quota of a key until the next one is due',
  async (api) => {
    const clock = { ms: 0 }
    const ask = openExplorer(api, {
      keys: ['a', 'b'],
      quota: { perSecond: 3, burst: 2 },
      now: () => clock.ms,
    })
    const send = (apikey: string) => ask({ ...LISTING, apikey })
    const answers = [await send('a'), await send('a'), await send('a')]
    const refused =
      api === 'etherscan'
        ? {
            status: 200,
            body: { status: '0', message: 'NOTOK', result: 'Max calls per sec rate limit reached (3/sec)' },
          }
        : {
            status: 429,
            body: { status: '0', message: expect.stringMatching(/^Too many requests/), result: null },
          }
    expect(answers.map(({ body }) => body.status)).toEqual(['1', '1', '0'])
    expect(answers[2]).toEqual(refused)
    expect((await send('b')).body.status).toBe('1')
    clock.ms += 334
    expect((await send('a')).body.status).toBe('1')
  },
)

test.for([
  { api: 'etherscan', url: '/v2/api?module=account', body: expect.stringContaining('Action') },
  {
    api: 'etherscan',
    url: '/v2/api?module=proxy&action=eth_blockNumber',
    body: expect.stringContaining('Missing or unsupported chainid'),
  },
  { api: 'etherscan', url: '/v1/chains', body: expect.stringContaining('Not found') },
  { api: 'blockscout', url: '/v1/chains', body: expect.stringContaining('Not found') },
  {
    api: 'blockscout',
    url: '/1/api?module=block&action=eth_block_number',
    body: expect.stringContaining('0x1060a3a'),
  },
  {
    api: 'blockscout',
    url: '/api/v1?module=block&action=eth_block_number',
    body: expect.stringContaining('0x1a4'),
  },
  {
    api: 'blockscout',
    url: '/v2/api?chain_id=1&module=block&action=eth_block_number',
    body: expect.stringContaining('0x1060a3a'),
  },
] as const)('$api answers $url', async ({ api, url, body }) => {
  expect((await createDataService({ api }).handle({ method: 'GET', url, headers: {} })).body).toEqual(body)
})
