import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { readJob } from '../../src/job/read-job.ts'
import { A, B, folderWith, jobOf, LEAST } from './helpers.ts'

test('applies every default of the contract', async () => {
  const folder = await folderWith({ 'my-job.yaml': LEAST })
  const file = join(folder, 'my-job.yaml')
  expect(await readJob(file, { overrides: {}, env: {} })).toEqual({
    name: 'my-job',
    file,
    kind: 'wallets',
    chain: '1',
    wallets: [{ address: A, label: null }],
    startBlock: 0,
    endBlock: undefined,
    tables: DEFAULT_TABLES,
    format: 'csv',
    table: 'files',
    numbers: 'text',
    compression: 'none',
    output: 'output/my-job',
    maxRowsPerFile: 1_000_000,
    concurrency: 16,
    finalityMs: 0,
    nativeSymbol: 'ETH',
    wraps: 'ledger',
    wrappedCoins: [],
    internals: 'listing',
    atomic: false,
    fees: 'auto',
    feesBudget: 2_000,
    keepRaw: false,
    escapeFormulas: true,
    service: { baseUrl: undefined, api: 'data-api', apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
  })
})

test.for([
  { api: 'etherscan', text: '', ms: 600_000 },
  { api: 'blockscout', text: '', ms: 600_000 },
  { api: 'etherscan', text: 'finality: 0s', ms: 0 },
  { api: 'etherscan', text: 'endBlock: 9', ms: 0 },
])('the finality of a job with the API $api and "$text" is $ms milliseconds', async ({ api, text, ms }) => {
  const job = await jobOf(`${LEAST}service: { baseUrl: 'https://localhost', api: ${api} }\n${text}`)
  expect(job.finalityMs).toBe(ms)
})

const FULL = {
  name: 'full',
  chain: 43113,
  addresses: [B.toUpperCase().replace('0X', '0x'), { address: A, label: 'ünï, "q"' }],
  startBlock: 5,
  endBlock: 6,
  tables: ['ledger', 'transactions'],
  format: 'parquet',
  compression: 'snappy',
  output: '/tmp/out',
  maxRowsPerFile: 1,
  concurrency: 256,
  nativeSymbol: 'X',
  wraps: 'off',
  wrappedCoins: [B.toUpperCase().replace('0X', '0x'), A],
  internals: 'full',
  atomic: true,
  keepRaw: true,
  service: { baseUrl: 'http://10.0.0.7:8080/data//', apiKeyHeader: 'X-Key', timeout: '500ms' },
}

const FULL_JOB = {
  name: 'full',
  chain: '43113',
  wallets: [
    { address: A, label: 'ünï, "q"' },
    { address: B, label: null },
  ],
  startBlock: 5,
  endBlock: 6,
  tables: ['transactions', 'ledger'],
  format: 'parquet',
  compression: 'snappy',
  output: '/tmp/out',
  maxRowsPerFile: 1,
  concurrency: 256,
  finalityMs: 0,
  nativeSymbol: 'X',
  wraps: 'off',
  wrappedCoins: [A, B],
  internals: 'full',
  atomic: true,
  keepRaw: true,
  service: { baseUrl: 'http://10.0.0.7:8080/data', api: 'data-api', apiKeyHeader: 'X-Key', timeoutMs: 500 },
}

test('reads every field of a JSON job that names its schema', async () => {
  const text = JSON.stringify({ $schema: './job.schema.json', ...FULL }, null, '\t')
  expect(await jobOf(text, { name: 'full.json' })).toMatchObject(FULL_JOB)
})

test('reads the same job from YAML with a byte order mark', async () => {
  const lines = Object.entries(FULL).map(([key, value]) => `${key}: ${JSON.stringify(value)}\r\n`)
  expect(await jobOf(`\ufeff# a comment\r\n${lines.join('')}`)).toMatchObject(FULL_JOB)
})

test('reads an unquoted address as text', async () => {
  const address = '0x0000000000000000000000000000000000000e10'
  const job = await jobOf(`chain: 1\naddresses:\n  - ${address}\n  - address: ${A}\n    label: a\n`)
  expect(job.wallets).toEqual([
    { address, label: null },
    { address: A, label: 'a' },
  ])
})

test.for([
  { chain: '115792089237316195423570985008687907853269984665640564039457584007913129639935', symbol: null },
  { chain: '0', symbol: null },
  { chain: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5', symbol: 'AVAX' },
  { chain: '43114', symbol: 'AVAX' },
  { chain: '56', symbol: 'BNB' },
  { chain: '100', symbol: 'xDAI' },
  { chain: '137', symbol: 'POL' },
])('keeps chain $chain as exact text and knows symbol $symbol', async ({ chain, symbol }) => {
  const job = await jobOf(`chain: ${chain}\naddresses: ['${A}']`)
  expect([job.chain, job.nativeSymbol]).toEqual([chain, symbol])
})

test.for([
  { text: '0s', ms: 0 },
  { text: '500ms', ms: 500 },
  { text: '90s', ms: 90_000 },
  { text: '10m', ms: 600_000 },
  { text: '1h', ms: 3_600_000 },
  { text: '2d', ms: 172_800_000 },
])('reads finality $text as $ms milliseconds', async ({ text, ms }) => {
  expect((await jobOf(`${LEAST}finality: ${text}`)).finalityMs).toBe(ms)
})

test('resolves an alias of a scalar', async () => {
  const job = await jobOf(`${LEAST}name: &it shared\noutput: *it`)
  expect([job.name, job.output]).toEqual(['shared', 'shared'])
})

test('reads all JSON notations of a number alike', async () => {
  const job = await jobOf(`{"chain": 1, "addresses": ["${A}"], "maxRowsPerFile": 1e6, "startBlock": 2.0}`)
  expect([job.maxRowsPerFile, job.startBlock]).toEqual([1_000_000, 2])
})

test('accepts the shipped jobs', async () => {
  const demo = await readJob('jobs/examples/demo.yaml', { overrides: {}, env: {} })
  expect(demo).toMatchObject({
    name: 'demo',
    chain: '42161',
    format: 'csv',
    output: 'output/demo',
  })
  expect(demo.service.baseUrl).toBe('demo')
  expect(demo.wallets.map(({ label }) => label).sort()).toEqual([
    'Airdrops',
    'Collectibles',
    'Main',
    'Savings',
    'Trading',
  ])
  const blocks = await readJob('jobs/examples/blocks.yaml', { overrides: {}, env: {} })
  expect(blocks).toMatchObject({ kind: 'blocks', endBlock: 421, format: 'parquet' })
})
