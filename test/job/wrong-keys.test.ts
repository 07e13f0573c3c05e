import { expect, test } from 'vitest'
import { A, LEAST, refusalOf } from './helpers.ts'

test.for([
  ['network', 'chain'],
  ['chain_id', 'chain'],
  ['wallets', 'addresses'],
  ['address', 'addresses'],
  ['file', 'addressesFile'],
  ['start', 'startBlock'],
  ['from', 'startBlock'],
  ['to', 'endBlock'],
  ['fromBlock', 'startBlock'],
  ['url', 'service.baseUrl'],
  ['rpc', 'service.baseUrl'],
  ['rpc-url', 'service.baseUrl'],
  ['endpoint', 'service.baseUrl'],
  ['header', 'service.apiKeyHeader'],
  ['threads', 'concurrency'],
  ['out', 'output'],
  ['confirmations', 'finality'],
] as const)('the key %s suggests %s', async ([key, field]) => {
  const { message } = await refusalOf(`name: x\n${key}: x\n`)
  expect(message).toContain(`found the key "${key}", expected `)
  expect(message).toContain(`(did you mean "${field}"?)`)
  expect(message).not.toContain('The fields are')
  expect(message).not.toContain(`: ${field}: found nothing`)
})

test.for(['apiKey', 'api_key', 'privateKey', 'mnemonic'])(
  'rejects the API key %s in a job file',
  async (key) => {
    const { message } = await refusalOf(`${LEAST}${key}: hush\n`)
    expect(message).toContain('found a key (not shown), expected no API key in a job file')
    expect(message).not.toContain('hush')
  },
)

test('lists the fields once, below all diagnostics', async () => {
  const { message } = await refusalOf(`${LEAST}wat: 1\nformat: x\nwut: 2\nservice: { wet: 3 }\n`)
  const lines = message.split('\n')
  expect(lines.map((line) => line.split(': found')[0])).toEqual([
    'job.yaml:3:1: wat',
    'job.yaml:4:9: format',
    'job.yaml:5:1: wut',
    'job.yaml:6:12: service.wet',
    expect.stringMatching(/^The fields are name, kind, chain, .* service, catalog, store\.$/),
  ])
  expect(lines[3]).toContain('expected one of baseUrl, api, apiKeyHeader, timeout')
})

test('suggests the fields of an address for their synonyms', async () => {
  const { message } = await refusalOf(`chain: 1\naddresses:\n  - { wallet: '${A}', tag: x }\n`)
  expect(message.split('\n')).toEqual([
    'job.yaml:3:7: addresses[0].wallet: found the key "wallet", expected one of address, label (did you mean "address"?)',
    expect.stringContaining('found the key "tag", expected one of address, label (did you mean "label"?)'),
  ])
})

test('states where a field of the service belongs', async () => {
  const { message } = await refusalOf(`${LEAST}service:\nbaseUrl: demo\n`)
  expect(message).toBe(
    'job.yaml:4:1: baseUrl: found the key "baseUrl", expected baseUrl below service, two spaces further in (did you mean "service.baseUrl"?)',
  )
})
