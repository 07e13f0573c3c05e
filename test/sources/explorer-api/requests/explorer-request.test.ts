import { describe, expect, test } from 'vitest'
import { refusalError } from '../../../../src/sources/explorer-api/answer.ts'
import { ETHERSCAN } from '../../../../src/sources/explorer-api/dialect.ts'
import { explorerRequest } from '../../../../src/sources/explorer-api/requests.ts'

const ROUTESCAN = 'https://api.routescan.io/v2/network/mainnet/evm/43114/etherscan'

test.for([
  ['https://api.etherscan.io', '/v2/api'],
  ['https://api.etherscan.io/v2', '/api'],
  ['https://api.etherscan.io/v2/api', ''],
  ['https://api.etherscan.io/v2/api/', ''],
  [ROUTESCAN, '/api'],
  [`${ROUTESCAN}/api`, ''],
] as const)('the path below %s is "%s"', ([baseUrl, path]) => {
  const request = explorerRequest({
    dialect: ETHERSCAN,
    baseUrl,
    chain: '43114',
    description: 'test',
    parameters: { module: 'account' },
  })
  expect(request.pathAndQuery).toBe(`${path}?chainid=43114&module=account`)
})

describe('a refusal', () => {
  test('of version 1 of the API names the address of version 2', () => {
    const error = refusalError('You are using a deprecated V1 endpoint, switch to Etherscan API V2.')
    expect(error.code).toBe('REQUEST_REFUSED')
    expect(error.fix).toContain('to https://api.etherscan.io/v2/api')
  })
})
