import { expect, test } from 'vitest'
import { jobOf, LEAST, refusalOf, type Setting } from './helpers.ts'

const JOB = `${LEAST}format: csv
compression: gzip
output: of-job
concurrency: 2
tables: [ledger]
service: { baseUrl: 'https://job.example.com', apiKeyHeader: x-job }
`

test('the command line overrides environment and job file', async () => {
  const overrides = { baseUrl: 'demo', output: 'mine', concurrency: '3', tables: ['ledger, transactions'] }
  const env = { WALLETLAKE_BASE_URL: 'https://env.example.com/' }
  const job = await jobOf(JOB, { overrides, env })
  expect(job.service.baseUrl).toBe('demo')
  expect([job.output, job.concurrency, job.tables]).toEqual(['mine', 3, ['transactions', 'ledger']])
})

test('the environment overrides the job file', async () => {
  const env = { WALLETLAKE_BASE_URL: 'https://env.example.com/', WALLETLAKE_API_KEY_HEADER: 'x-env' }
  const { service } = await jobOf(JOB, { env })
  expect(service).toMatchObject({ baseUrl: 'https://env.example.com', apiKeyHeader: 'x-env' })
})

test('--api overrides WALLETLAKE_API, which overrides the job file', async () => {
  const file = `${LEAST}service: { api: of-file }\n`
  const messageOf = async (setting: Setting) => (await refusalOf(file, setting)).message
  const env = { WALLETLAKE_API: 'of-env' }
  expect(await messageOf({})).toContain('service.api: found "of-file"')
  expect(await messageOf({ env })).toContain('found "of-env"')
  expect(await messageOf({ env, overrides: { api: 'of-cli' } })).toContain('found "of-cli"')
})

test('the job file applies without overrides', async () => {
  const { service, concurrency, compression } = await jobOf(JOB)
  expect(service).toMatchObject({ baseUrl: 'https://job.example.com', apiKeyHeader: 'x-job' })
  expect([concurrency, compression]).toEqual([2, 'gzip'])
})

test.for([
  { when: 'it fits the new format', job: 'gzip', overrides: { format: 'parquet' }, compression: 'gzip' },
  { when: 'only csv is left to it', job: 'none', overrides: { format: 'parquet' }, compression: 'none' },
  {
    when: 'it fits no more',
    job: 'snappy',
    from: 'parquet',
    overrides: { format: 'csv' },
    compression: 'none',
  },
  {
    when: 'it is overridden too',
    job: 'gzip',
    overrides: { format: 'parquet', compression: 'zstd' },
    compression: 'zstd',
  },
])(
  'uses $compression after a format override when $when',
  async ({ job, from = 'csv', overrides, compression }) => {
    const made = await jobOf(`${LEAST}format: ${from}\ncompression: ${job}`, { overrides })
    expect(made.compression).toBe(compression)
  },
)

test('uses the default compression of an overriding format', async () => {
  expect((await jobOf(LEAST, { overrides: { format: 'parquet' } })).compression).toBe('zstd')
})

test('escapes formulas unless the command line disables it', async () => {
  expect((await jobOf(LEAST)).escapeFormulas).toBe(true)
  expect((await jobOf(LEAST, { overrides: { escapeFormulas: false } })).escapeFormulas).toBe(false)
})
