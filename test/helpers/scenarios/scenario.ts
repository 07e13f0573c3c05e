import fc from 'fast-check'
import { TABLE_NAMES } from '../../../src/core/table/index.ts'

const INCREMENTAL_RUN = fc.record({
  grows: fc.integer({ min: 0, max: 25 }),
  /** Blocks that are made while the night's run asks. */
  meanwhile: fc.constantFrom(0, 0, 1, 4),
  event: fc.constantFrom(
    'none',
    'none',
    'reorg',
    'late',
    'leave',
    'come',
    'rename',
    'symbol',
    'compact',
    'lost',
    'reread',
    'shifted',
  ),
  /** How a run ends before it is continued. */
  cut: fc.constantFrom('none', 'none', 'budget', 'abort', 'kill'),
  /** Where it is cut, in requests. */
  cutAt: fc.integer({ min: 1, max: 12 }),
  depth: fc.integer({ min: 1, max: 20 }),
})

/** A job, its nights, and the service that it meets. */
const SCENARIO = {
  seed: fc.nat(),
  wallets: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.constant(300) },
  ),
  job: fc.record({
    format: fc.constantFrom('csv' as const, 'csv' as const, 'parquet' as const),
    packed: fc.boolean(),
    tables: fc.oneof(fc.constant([...TABLE_NAMES]), fc.subarray([...TABLE_NAMES], { minLength: 1 })),
    partitionBy: fc.constantFrom(
      undefined,
      undefined,
      'day' as const,
      'month' as const,
      'blocks:10' as const,
    ),
    maxRowsPerFile: fc.constantFrom(1_000_000, 1_000_000, 1_000_000, 50, 11),
    targetFileBytes: fc.constantFrom(undefined, undefined, 4_000),
    concurrency: fc.integer({ min: 1, max: 5 }),
    startBlock: fc.constantFrom(0, 0, 9),
    endBlock: fc.constantFrom(undefined, undefined, undefined, 30),
    finalityMs: fc.constantFrom(0, 0, 3_600_000),
    keepRaw: fc.boolean(),
    escapeFormulas: fc.boolean(),
    labels: fc.boolean(),
    /** By its blockchain id, while items name the EVM id. */
    blockchainId: fc.boolean(),
  }),
  service: fc.record({
    ties: fc.constantFrom('chain' as const, 'hash' as const, 'against' as const),
    pageItems: fc.constantFrom(100, 4, 11),
    namesChain: fc.boolean(),
    faults: fc.constantFrom(0, 0, 0.15),
    refusesTokens: fc.boolean(),
    repeats: fc.constantFrom(0, 0, 1, 3),
    maxPageSize: fc.constantFrom(100, 100, 100, 25, 10),
  }),
  /** Where the export is loaded after each night. */
  target: fc.constantFrom('sqlite' as const, 'duckdb' as const, 'postgres' as const),
}

/** Scenarios of up to so many nights. */
export const scenarioArbitrary = (maxRuns: number) =>
  fc.record({ ...SCENARIO, runs: fc.array(INCREMENTAL_RUN, { minLength: 1, maxLength: maxRuns }) })

export type Scenario = ReturnType<typeof scenarioArbitrary> extends fc.Arbitrary<infer S> ? S : never
export type IncrementalRun = Scenario['runs'][number]
