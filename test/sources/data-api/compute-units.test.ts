import { expect, test } from 'vitest'
import { createMeter } from '../../../src/sources/data-api/compute-units.ts'

const WALLET = '/v1/chains/43114/addresses/0xab'

test.for([
  ['GET', `${WALLET}/transactions`, 20],
  ['GET', '/v1/chains/43114/blocks/7/transactions', 20],
  ['GET', '/v1/chains/43114/transactions/0xcd', 20],
  ['GET', `${WALLET}/transactions:listInternals`, 20],
  ['GET', '/v1/networks/mainnet/blockchains/c-chain/transactions', 100],
  ['GET', `${WALLET}/balances:getNative`, 20],
  ['GET', '/v1/chains', 1],
  ['GET', '/v1/chains/43114', 1],
  ['POST', '/v1/chains/43114/nfts/collections/0xab/tokens/1:reindex', 10],
  ['GET', '/v1/webhooks', 10],
  ['GET', '/v1/webhooks:getSharedSecret', 10],
  ['PATCH', '/v1/webhooks/id/addresses', 20],
  ['DELETE', '/v1/webhooks/id', 20],
] as const)('%s %s costs %i units', ([method, path, units]) => {
  expect(createMeter({}).unitsOf({ method, path })).toBe(units)
})

test('a job overrides costs and limits', () => {
  const meter = createMeter({ tier: 'free', computeUnitsPerDay: 500, computeUnits: { transaction: 3 } })
  expect(meter.unitsOf({ method: 'GET', path: '/v1/chains/1/transactions/0xcd' })).toBe(3)
  expect(meter.unitsOf({ method: 'GET', path: `${WALLET}/transactions` })).toBe(20)
  expect([meter.perMinute, meter.perDay]).toEqual([8_000, 500])
})

test.for([
  ['none', 6_000, 1_200_000],
  ['free', 8_000, 2_000_000],
  ['base', 10_000, 3_750_000],
  ['growth', 14_000, 11_200_000],
  ['pro', 20_000, 25_000_000],
] as const)('the tier %s allows %i units a minute and %i a day', ([tier, perMinute, perDay]) => {
  expect(createMeter({ tier })).toMatchObject({ perMinute, perDay })
})

test('the rate follows from the units per minute and the cost of the operation', () => {
  const meter = createMeter({ computeUnitsPerMinute: 6_000, computeUnits: { chains: 0 } })
  expect(meter.requestsPerMs('listing')).toBeCloseTo(0.00495)
  expect(meter.requestsPerMs('reindex')).toBeCloseTo(0.0099)
  expect(meter.requestsPerMs('chains')).toBeUndefined()
  expect(createMeter({}).requestsPerMs('listing')).toBeUndefined()
})
