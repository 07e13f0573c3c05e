import { expect, test } from 'vitest'
import { knownServiceOf, replacementOf } from '../../../src/core/model/known-services.ts'

test.for([
  ['https://data-api.avax.network', 'data-api'],
  ['https://api.etherscan.io/v2/api', 'etherscan'],
  ['https://api.routescan.io/v2/network/mainnet/evm/43114/etherscan/api', 'etherscan'],
  ['https://api.bscscan.com/api', 'etherscan'],
  ['https://eth.blockscout.com', 'blockscout'],
  ['https://blockscout.com.example.com', undefined],
  ['https://example.com', undefined],
] as const)('the API of %s is %s', ([baseUrl, api]) => {
  expect(knownServiceOf(baseUrl)?.api).toBe(api)
})

const V2 = 'https://api.etherscan.io/v2/api'
const ROUTESCAN = 'https://api.routescan.io/v2/network/mainnet/evm/43114/etherscan/api'

test.for([
  ['https://api-optimistic.etherscan.io/api', 'was switched off in 2025', V2],
  ['https://api.polygonscan.com', 'was switched off in 2025', V2],
  ['https://api.snowtrace.io', 'was switched off in 2023', ROUTESCAN],
  ['https://etherscan.io', 'is a web site', V2],
  ['https://www.bscscan.com/address', 'is a web site', V2],
  ['https://snowtrace.io', 'is a web site', ROUTESCAN],
] as const)('%s %s', ([given, reason, baseUrl]) => {
  const { hostname } = new URL(given)
  expect(replacementOf(given)).toMatchObject({ baseUrl, reason: `${hostname} ${reason}` })
})

test.for([
  'https://api.etherscan.io/v2/api',
  'https://eth.blockscout.com',
  'https://notetherscan.io',
  'https://etherscan.io.example.com',
  'demo',
])('%s has no replacement', (baseUrl) => {
  expect(replacementOf(baseUrl)).toBeUndefined()
})
