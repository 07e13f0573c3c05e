import { expect, test } from 'vitest'
import { knownServiceOf } from '../../../src/core/model/known-services.ts'

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

test.for([
  ['https://api.etherscan.io/api', undefined],
  ['https://api-optimistic.etherscan.io/api', 'https://api.etherscan.io/v2/api'],
  ['https://api.polygonscan.com', 'https://api.etherscan.io/v2/api'],
  ['https://api.snowtrace.io', 'https://api.routescan.io/v2/network/mainnet/evm/43114/etherscan/api'],
] as const)('%s is replaced by %s', ([baseUrl, replacement]) => {
  expect(knownServiceOf(baseUrl)?.replacedBy).toBe(replacement)
})
