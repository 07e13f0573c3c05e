import fc from 'fast-check'
import { TABLE_NAMES } from '../../../src/core/table/index.ts'

const INCREMENTAL_RUN = fc.record({
  /** Blocks that are added before the run. */
  newBlocks: fc.integer({ min: 0, max: 25 }),
  /** Blocks that are added during the run. */
  blocksDuringRun: fc.constantFrom(0, 0, 1, 4),
  event: fc.constantFrom(
    'none',
    'none',
    'reorg',
    'delayed indexing',
    'remove wallet',
    'add wallet',
    'change labels',
    'change symbol',
    'compact',
    'lost checkpoint',
    'longer lookback',
    'reorg during run',
  ),
  /** How the run is interrupted before it is resumed. */
  interruption: fc.constantFrom('none', 'none', 'budget', 'abort', 'kill'),
  /** Number of the request at which it is interrupted. */
  interruptAt: fc.integer({ min: 1, max: 12 }),
  /** Depth of reorgs, in blocks. */
  depth: fc.integer({ min: 1, max: 20 }),
})

/** A job, its incremental runs, and the behaviour of the API. */
const SCENARIO = {
  seed: fc.nat(),
  wallets: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 1, arbitrary: fc.constant(300) },
  ),
  job: fc.record({
    format: fc.constantFrom('csv' as const, 'csv' as const, 'parquet' as const),
    compressed: fc.boolean(),
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
    /** Whether the job names the chain by its blockchain id, while items contain the EVM chain id. */
    blockchainId: fc.boolean(),
  }),
  service: fc.record({
    ties: fc.constantFrom('chain' as const, 'hash' as const, 'reversed' as const),
    pageItems: fc.constantFrom(100, 4, 11),
    namesChain: fc.boolean(),
    faults: fc.constantFrom(0, 0, 0.15),
    refusesTokens: fc.boolean(),
    repeats: fc.constantFrom(0, 0, 1, 3),
    maxPageSize: fc.constantFrom(100, 100, 100, 25, 10),
  }),
  /** Database into which the export is loaded after each run. */
  target: fc.constantFrom('sqlite' as const, 'duckdb' as const, 'postgres' as const),
}

/** Scenarios with up to `maxRuns` runs. */
export const scenarioArbitrary = (maxRuns: number) =>
  fc.record({ ...SCENARIO, runs: fc.array(INCREMENTAL_RUN, { minLength: 1, maxLength: maxRuns }) })

export type Scenario = ReturnType<typeof scenarioArbitrary> extends fc.Arbitrary<infer S> ? S : never
export type IncrementalRun = Scenario['runs'][number]
