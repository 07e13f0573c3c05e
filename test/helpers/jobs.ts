import type { Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, TABLE_NAMES } from '../../src/core/table/index.ts'

/** A complete wallet job for tests. Fields that are not given have defaults. */
export function testJob(overrides: Partial<Omit<Job, 'wallets'>> & { addresses: readonly string[] }): Job {
  const { addresses, ...fields } = overrides
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
    maxRowsPerFile: 1_000_000,
    concurrency: 16,
    finalityMs: 0,
    nativeSymbol: null,
    wraps: 'ledger',
    internals: 'listing',
    atomic: false,
    keepRaw: false,
    fees: 'auto',
    feesBudget: 2_000,
    escapeFormulas: true,
    service: { baseUrl: 'demo', apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
    ...fields,
  }
}

/** A complete block job for tests, by default for the whole demo chain. */
export function blocksJob(overrides: Partial<Job> = {}): Job {
  return testJob({ kind: 'blocks', addresses: [], tables: ['transactions'], ...overrides })
}

function byAddress(a: { address: string }, b: { address: string }): number {
  return a.address < b.address ? -1 : 1
}
