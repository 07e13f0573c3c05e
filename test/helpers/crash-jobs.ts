import { TABLE_NAMES } from '../../src/core/table/index.ts'
import { type FaultyResponse, faultWhere, withChangedPage } from './faults.ts'
import { addresses } from './faulty-run.ts'
import type { Fault } from './loopback.ts'
import { demoWallets } from './node-data.ts'

/** A job that is killed and started again until it is done. */
export type CrashJob = {
  what: string
  /** Fields of the job file. */
  fields: { concurrency: number } & Record<string, unknown>
  /** Options of the command line. */
  options?: readonly string[]
  /** What the service does to every answer. */
  fault?: Fault
  /** Exit code of a run that reaches its end. */
  exit: 0 | 6
  /**
   * An export that already lies in the output: of these other fields, or of a chain that ended before this block; with
   * `forgotten`, its private folder is gone; `isAnother`: it is replaced by --fresh.
   */
  previous?: { fields?: Record<string, unknown>; head?: number; forgotten?: boolean; isAnother?: boolean }
}

const base = { chain: '43114', endBlock: 421, addresses, concurrency: 3 }

/** Every record of some blocks loses what it cannot be normalized without. */
const corruptedPage: FaultyResponse = withChangedPage(({ transactions, ...page }) => ({
  ...page,
  transactions: transactions.map((item) => {
    const block = Number(item.nativeTransaction.blockNumber)
    const blockHash = block % 50 === 7 ? null : item.nativeTransaction.blockHash
    return { ...item, nativeTransaction: { ...item.nativeTransaction, blockHash } }
  }),
}))

/** The kinds of job of the crash harness. */
export const CRASH_JOBS: readonly CrashJob[] = [
  { what: 'a fixed end as CSV', fields: base, exit: 0 },
  {
    what: 'Parquet',
    fields: { ...base, format: 'parquet', tables: ['transactions', 'ledger'] },
    exit: 0,
  },
  { what: 'the head as its end', fields: { ...base, endBlock: undefined, compression: 'gzip' }, exit: 0 },
  {
    what: 'many wallets',
    fields: { ...base, addresses: demoWallets.slice(0, 24), concurrency: 8 },
    exit: 0,
  },
  {
    what: 'small files',
    fields: { ...base, maxRowsPerFile: 150, tables: ['erc20_transfers', 'wallet_transactions'] },
    exit: 0,
  },
  {
    what: 'partitions in place of others',
    fields: { ...base, partitionBy: 'blocks:60', tables: ['erc20_transfers', 'wallet_transactions'] },
    previous: { fields: { partitionBy: 'blocks:100' }, isAnother: true },
    exit: 0,
  },
  { what: 'raw items kept', fields: { ...base, keepRaw: true, tables: ['ledger'] }, exit: 0 },
  { what: 'records rejected', fields: base, fault: faultWhere(() => true, corruptedPage), exit: 6 },
  {
    what: 'an older export in its place',
    fields: { ...base, maxRowsPerFile: 900, tables: TABLE_NAMES.slice(0, 3) },
    previous: { fields: { addresses: addresses.slice(0, 2), maxRowsPerFile: 400 } },
    exit: 0,
  },
  {
    what: 'an update',
    fields: { ...base, endBlock: undefined, format: 'parquet', tables: ['ledger', 'erc20_transfers'] },
    previous: { head: 250 },
    exit: 0,
  },
  {
    what: 'an update with raw items and rejects',
    fields: { ...base, endBlock: undefined, keepRaw: true },
    fault: faultWhere(() => true, corruptedPage),
    previous: { head: 250 },
    exit: 6,
  },
  {
    what: 'an update whose checkpoint is gone',
    fields: { ...base, endBlock: undefined, keepRaw: true, tables: ['ledger'] },
    previous: { head: 250, forgotten: true },
    exit: 0,
  },
]
