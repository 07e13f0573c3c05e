import { TABLE_NAMES } from '../../src/core/table/index.ts'
import { type FaultyResponse, faultWhere, withChangedPage } from './faults.ts'
import { addresses } from './faulty-run.ts'
import type { Fault } from './loopback.ts'
import { smallWallets } from './node-data.ts'

/** A job that is killed and restarted until it is complete. */
export type CrashJob = {
  what: string
  /** Fields of the job file. */
  fields: { concurrency: number } & Record<string, unknown>
  /** Options of the command line. */
  options?: readonly string[]
  /** The API of the server, and the requests that one page takes from it. @default data-api, with one request */
  explorer?: { api: 'etherscan' | 'blockscout'; requestsPerPage: number }
  /** Fault in the responses of the server. */
  fault?: Fault
  /** Exit code of a run that is not interrupted. */
  exit: 0 | 6
  /**
   * An earlier export in the output: with these other fields, or of a chain whose head was this block. Its private folder is
   * removed with `withoutCheckpoint`; with `isReplaced`, the job replaces it by --fresh.
   */
  previous?: {
    fields?: Record<string, unknown>
    head?: number
    withoutCheckpoint?: boolean
    isReplaced?: boolean
  }
}

const base = { chain: '43114', endBlock: 421, addresses, concurrency: 3 }

/** Removes the block hash, a required field, from every record of some blocks. */
const corruptedPage: FaultyResponse = withChangedPage(({ transactions, ...page }) => ({
  ...page,
  transactions: transactions.map((item) => {
    const block = Number(item.nativeTransaction.blockNumber)
    const blockHash = block % 50 === 7 ? null : item.nativeTransaction.blockHash
    return { ...item, nativeTransaction: { ...item.nativeTransaction, blockHash } }
  }),
}))

/** The jobs of the crash tests. */
export const CRASH_JOBS: readonly CrashJob[] = [
  { what: 'CSV up to an endBlock', fields: base, exit: 0 },
  {
    what: 'Parquet',
    fields: { ...base, format: 'parquet', tables: ['transactions', 'ledger'] },
    exit: 0,
  },
  { what: 'CSV up to the head', fields: { ...base, endBlock: undefined, compression: 'gzip' }, exit: 0 },
  {
    what: 'many wallets',
    fields: { ...base, addresses: smallWallets, concurrency: 8 },
    exit: 0,
  },
  {
    what: 'small files',
    fields: { ...base, maxRowsPerFile: 70, tables: ['erc20_transfers', 'wallet_transactions'] },
    exit: 0,
  },
  {
    what: 'other partitions, with --fresh',
    fields: { ...base, partitionBy: 'blocks:60', tables: ['erc20_transfers', 'wallet_transactions'] },
    previous: { fields: { partitionBy: 'blocks:100' }, isReplaced: true },
    exit: 0,
  },
  { what: 'raw items', fields: { ...base, keepRaw: true, tables: ['ledger'] }, exit: 0 },
  { what: 'rejected records', fields: base, fault: faultWhere(() => true, corruptedPage), exit: 6 },
  {
    what: 'an earlier export of fewer wallets',
    fields: { ...base, maxRowsPerFile: 300, tables: TABLE_NAMES.slice(0, 3) },
    previous: { fields: { addresses: addresses.slice(0, 2), maxRowsPerFile: 150 } },
    exit: 0,
  },
  {
    what: 'an incremental run',
    fields: { ...base, endBlock: undefined, format: 'parquet', tables: ['ledger', 'erc20_transfers'] },
    previous: { head: 250 },
    exit: 0,
  },
  {
    what: 'an incremental run with raw items and rejects',
    fields: { ...base, endBlock: undefined, keepRaw: true },
    fault: faultWhere(() => true, corruptedPage),
    previous: { head: 250 },
    exit: 6,
  },
  {
    what: 'an explorer, up to an endBlock',
    fields: { ...base, service: { api: 'etherscan' } },
    explorer: { api: 'etherscan', requestsPerPage: 5 },
    exit: 0,
  },
  {
    what: 'an incremental run from an explorer',
    fields: { ...base, endBlock: undefined, service: { api: 'blockscout' } },
    explorer: { api: 'blockscout', requestsPerPage: 5 },
    previous: { head: 250 },
    exit: 0,
  },
  {
    what: 'an incremental run without a checkpoint',
    fields: { ...base, endBlock: undefined, keepRaw: true, tables: ['ledger'] },
    previous: { head: 250, withoutCheckpoint: true },
    exit: 0,
  },
]
