import fc from 'fast-check'
import { DEFAULT_TABLES } from '../../../src/core/table/index.ts'

/** What happens before or during a run. Repeated events are more likely. */
const EVENTS = [
  'none',
  'none',
  'reorg',
  'late indexing',
  'remove wallet',
  'add wallet',
  'rename wallets',
  'symbol',
  'compact',
  'lost pages',
  'lookback',
  'reorg during run',
  'hostile manifest',
  'reindex',
  'reindex, add wallet',
  'lost pages, reorg',
  'lost pages, reorg, lookback',
] as const

const INCREMENTAL_RUN = fc.record({
  /** Blocks that the chain grows by before the run. */
  grows: fc.integer({ min: 0, max: 25 }),
  /** Blocks that the chain grows by during the run. */
  meanwhile: fc.constantFrom(0, 0, 1, 4),
  event: fc.constantFrom(...EVENTS),
  /** How the run is interrupted before it is resumed. */
  cut: fc.constantFrom('none', 'none', 'budget', 'abort', 'kill'),
  /** The request that interrupts it, counted from 1. */
  cutAt: fc.integer({ min: 1, max: 12 }),
  /** Blocks that a reorg or a longer lookback affects. */
  depth: fc.integer({ min: 1, max: 20 }),
})

/** A job, and the service that it exports from. */
const SCENARIO = {
  seed: fc.nat(),
  /** Blocks that the chain has before the first run. */
  initialBlocks: fc.constantFrom(12, 12, 12, 80),
  publishesTo: fc.constantFrom('folder' as const, 'folder' as const, 'bucket' as const),
  wallets: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.constant(300) },
  ),
  job: fc.record({
    format: fc.constantFrom('csv' as const, 'csv' as const, 'parquet' as const),
    packed: fc.boolean(),
    tables: fc.oneof(fc.constant([...DEFAULT_TABLES]), fc.subarray([...DEFAULT_TABLES], { minLength: 1 })),
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
    fees: fc.constantFrom('listed' as const, 'auto' as const, 'auto' as const, 'exact' as const),
    /** The job names the chain by its blockchain id, the items by its EVM chain id. */
    blockchainId: fc.boolean(),
  }),
  service: fc.record({
    ties: fc.constantFrom('chain' as const, 'hash' as const, 'against' as const),
    pageItems: fc.constantFrom(100, 4, 11),
    namesChain: fc.boolean(),
    faults: fc.constantFrom(0, 0, 0.15),
    refusesTokens: fc.boolean(),
    repeats: fc.constantFrom(0, 0, 1, 3),
    listsFeeCap: fc.boolean(),
    maxPageSize: fc.constantFrom(100, 100, 100, 25, 10),
  }),
  /** The database that loads the export after each run. */
  target: fc.constantFrom('sqlite' as const, 'duckdb' as const, 'postgres' as const),
}

/** Scenarios of up to `maxRuns` runs. */
export const scenarioArbitrary = (maxRuns: number) =>
  fc.record({ ...SCENARIO, runs: fc.array(INCREMENTAL_RUN, { minLength: 1, maxLength: maxRuns }) })

export type Scenario = ReturnType<typeof scenarioArbitrary> extends fc.Arbitrary<infer S> ? S : never
export type IncrementalRun = Scenario['runs'][number]
