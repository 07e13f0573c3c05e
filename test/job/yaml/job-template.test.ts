import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FIELD_PATHS } from '../../../src/job/fields/fields.ts'
import { readJob } from '../../../src/job/read-job.ts'
import { jobTemplate, type NewJob } from '../../../src/job/yaml/job-template.ts'
import { tempFile } from '../../helpers/temp-folder.ts'

const WALLET = { address: '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25', label: null }
const NEW: NewJob = {
  file: 'jobs/mine.yaml',
  name: undefined,
  chain: '43114',
  wallets: [WALLET],
  baseUrl: 'https://data.example.com',
  api: undefined,
  format: 'csv',
  startBlock: undefined,
}

async function read(given: Partial<NewJob>) {
  const file = tempFile('mine.yaml', jobTemplate({ ...NEW, ...given }))
  return readJob(file, { overrides: {}, env: {} })
}

test('a new job reads back with the given values', async () => {
  const given = { chain: '2q9e4r6Mu3U6', format: 'parquet', startBlock: 7, name: 'other' } as const
  const job = await read({ ...given, api: 'blockscout' })
  expect(job).toMatchObject(given)
  expect(job.service).toMatchObject({ baseUrl: 'https://data.example.com', api: 'blockscout' })
  const unset = await read({})
  expect(unset).toMatchObject({ name: 'mine', chain: '43114', startBlock: 0, endBlock: undefined })
  expect(unset.service.api).toBe('data-api')
})

test('a label with any characters reads back unchanged', async () => {
  const labels = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  const fit = labels.filter((label) => label.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(label))
  await fc.assert(
    fc.asyncProperty(fit, async (label) => {
      const { wallets } = await read({ wallets: [{ ...WALLET, label }] })
      expect(wallets).toEqual([{ address: WALLET.address.toLowerCase(), label }])
    }),
    { numRuns: 50 },
  )
})

test('a new job explains every field that wallet jobs often use', () => {
  const rare = [
    'kind',
    'table',
    'numbers',
    'catalog.type',
    'catalog.uri',
    'catalog.warehouse',
    'catalog.namespace',
    'maxRowsPerFile',
    'partitionBy',
    'targetFileSize',
    'nativeSymbol',
    'wraps',
    'wrappedCoins',
    'internals',
    'atomic',
    'keepRaw',
    'fees',
    'feesBudget',
    'computeUnits',
    'computeUnitsPerDay',
    'computeUnitsPerMinute',
  ]
  const wanted = FIELD_PATHS.map((path) => path.replace(/^(service|store)\./, ''))
  const text = jobTemplate(NEW)
  const unnamed = wanted.filter((field) => !new RegExp(`\\b${field}:`).test(text))
  const ofStores = ['endpoint', 'region', 'pathStyle']
  expect(unnamed.sort()).toEqual([...rare, 'apiKeyHeader', ...ofStores].sort())
})
