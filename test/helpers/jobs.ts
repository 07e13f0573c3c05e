import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, TABLE_NAMES } from '../../src/core/table/index.ts'
import { tempFolder } from './temp-folder.ts'

export type TestFields = Partial<Omit<Job, 'wallets' | 'service'>> & { service?: Partial<Job['service']> }

/** Settings of a service that a job does not state. */
const SERVICE = {
  api: 'data-api',
  baseUrl: 'demo',
  apiKeyHeader: 'x-service-api-key',
  timeoutMs: 120_000,
} as const

/** A complete wallet job for tests. Fields that are not given have defaults. */
export function testJob(overrides: TestFields & { addresses: readonly string[] }): Job {
  const { addresses, service, ...fields } = overrides
  return {
    name: 'test',
    file: 'test.yaml',
    kind: 'wallets',
    chain: '43114',
    wallets: addresses.map((address) => ({ address: address.toLowerCase(), label: null })).sort(byAddress),
    startBlock: 0,
    endBlock: 421,
    tables: fields.atomic ? TABLE_NAMES : DEFAULT_TABLES,
    format: 'csv',
    compression: fields.format === 'parquet' ? 'zstd' : 'none',
    output: 'output/test',
    table: 'files',
    numbers: 'text',
    maxRowsPerFile: 1_000_000,
    concurrency: 16,
    finalityMs: 0,
    nativeSymbol: null,
    wraps: 'ledger',
    wrappedCoins: [],
    internals: 'listing',
    atomic: false,
    keepRaw: false,
    fees: 'auto',
    feesBudget: 2_000,
    escapeFormulas: true,
    service: { ...SERVICE, ...service },
    ...fields,
  }
}

/** A complete block job for tests, by default for the whole demo chain. */
export function blocksJob(overrides: TestFields = {}): Job {
  return testJob({ kind: 'blocks', addresses: [], tables: ['transactions'], ...overrides })
}

/** Writes a job file of this name into a new folder, with an output beside it. */
export function writeJobFile(name: string, fields: object) {
  const folder = tempFolder()
  const [job, output] = [join(folder, `${name}.json`), join(folder, 'out')]
  writeFileSync(job, JSON.stringify({ chain: '43114', output, ...fields }))
  return { folder, job, output }
}

function byAddress(a: { address: string }, b: { address: string }): number {
  return a.address < b.address ? -1 : 1
}
