import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isKnownService, keyHeaderOf, requireEncryptedKey } from '../../../src/core/model/service-key.ts'

test.for([
  ['https://glacier-api.avax.network', 'x-glacier-api-key'],
  ['https://data-api.avax.network/base', 'x-glacier-api-key'],
  ['https://data-api.example.com', 'x-service-api-key'],
  ['https://data-api.avax.network.example.com', 'x-service-api-key'],
  ['demo', 'x-service-api-key'],
  [undefined, 'x-service-api-key'],
] as const)('sends the key for %s in the header %s', ([baseUrl, header]) => {
  expect(keyHeaderOf(baseUrl)).toBe(header)
})

test.for([
  ['https://glacier-api.avax.network', true],
  ['https://data-api.avax.network/base', true],
  ['http://data-api.avax.network', false],
  ['https://data-api.avax.network:8443', false],
  ['https://data-api.avax.network.example.com', false],
  ['https://api.etherscan.io/v2/api', true],
  ['https://api.bscscan.com/api', false],
  ['https://constructor', false],
  ['demo', false],
] as const)('isKnownService(%s) is %s', ([baseUrl, isKnown]) => {
  expect(isKnownService(baseUrl)).toBe(isKnown)
})

describe('an API key', () => {
  beforeEach(() => {
    for (const name of ['http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  const refusal = expect.objectContaining({
    code: 'USAGE',
    message: expect.stringContaining('the key would be sent unencrypted to'),
    fix: expect.stringContaining('--allow-plain-http'),
  })

  test.for([
    'http://data-api.example.com',
    'http://10.0.0.7:8787',
    'http://localhost.example.com',
    'http://[fe80::1]',
  ])('is not sent to %s unless plain http is allowed', (baseUrl) => {
    expect(() => requireEncryptedKey({ baseUrl, apiKey: 'k3y' })).toThrow(refusal)
    requireEncryptedKey({ baseUrl, apiKey: 'k3y', allowPlainHttp: true })
    requireEncryptedKey({ baseUrl, apiKey: undefined })
  })

  test.for([
    'https://data-api.example.com',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://[::1]:8787',
    'demo',
  ])('may be sent to %s', (baseUrl) => {
    requireEncryptedKey({ baseUrl, apiKey: 'k3y' })
  })

  test('is not sent to this machine through an http proxy on another machine', () => {
    const use = { baseUrl: 'http://localhost:8787', apiKey: 'k3y' }
    vi.stubEnv('HTTP_PROXY', 'http://proxy.example.com:3128')
    expect(() => requireEncryptedKey(use)).toThrow(refusal)
    vi.stubEnv('NO_PROXY', 'localhost')
    requireEncryptedKey(use)
  })
})
