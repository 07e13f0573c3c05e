import { deserialize, serialize } from 'node:v8'
import type { DecimalsOfRow } from '../../core/model/token-decimals.ts'
import type { ByteText } from '../../core/platform/byte-text.ts'

/**
 * Index of a staged page: its transactions in chain order, stored as one array per field, and the locations
 * of their lines. Numbers are in typed arrays, which are written and read as they are.
 */
export type PageIndex = {
  block: Float64Array
  index: Float64Array
  hash: ByteText[]
  timeMs: Float64Array
  /** Index in the list of the page. */
  listIndex: Uint32Array
  /** A sum of `FLAGS`. */
  flags: Uint8Array
  /** See `openPrice` of `FlatTransaction`. `at` is the index of the transaction in these arrays. */
  openFees: [at: number, blockHash: string, price: string][]
  /** One entry per table of the job, in the job's order. */
  lines: TableLines[]
  /** Lines of `rejects.ndjson`; `at` is the index of the transaction in these arrays. */
  rejects: [at: number, line: string][]
  /** Transactions with logs in more than one of the ERC lists, and the number of such logs. */
  repeatedLogs: [at: number, count: number][]
  /** The decimals of its tokens, each once. */
  decimals: DecimalsOfRow[]
  /** Number of entries in the page's list, including those without a valid position. */
  entries: number
}

/**
 * The lines of one page and table. They are contiguous in the staging file of the thread that staged the
 * page.
 */
export type TableLines = {
  /** Byte offset of the first line in the file. */
  start: number
  /** Per transaction: the end of its lines in bytes from `start`, and the cumulative number of rows. */
  ends: Uint32Array
  rows: Uint32Array
  /** Length of the longest line in bytes. */
  maxLineBytes: number
}

/** Location of a page's index. `thread` is the thread whose staging files contain the index and the lines. */
export type IndexLocation = { thread: number; offset: number; bytes: number }

/** What is known of a transaction; see `FlatTransaction`. One that could not be normalized has no rows. */
export const FLAGS = { isNormalized: 1, isStatusUnknown: 2, isFeeUnknown: 4, isFeeUpperBound: 8 } as const

export const hasFlag = ({ flags }: Pick<PageIndex, 'flags'>, at: number, flag: keyof typeof FLAGS): boolean =>
  ((flags[at] ?? 0) & FLAGS[flag]) !== 0

export const indexBytes = (index: PageIndex): Buffer => serialize(index)
export const readIndexBytes = (bytes: Buffer): PageIndex => deserialize(bytes) as PageIndex

/** Contiguous lines: `rows` rows in `bytes` bytes from offset `start` of their file. */
export type LineRange = { start: number; bytes: number; rows: number; maxLineBytes: number }

/** Returns the lines of the transactions `first` to `last` (inclusive) of a page in one table. */
export function lineRangeOf(
  { start, ends, rows, maxLineBytes }: TableLines,
  first: number,
  last: number,
): LineRange {
  const [before, rowsBefore] = [ends[first - 1] ?? 0, rows[first - 1] ?? 0]
  return {
    start: start + before,
    bytes: (ends[last] ?? before) - before,
    rows: (rows[last] ?? rowsBefore) - rowsBefore,
    maxLineBytes,
  }
}

/** A transaction whose fee depends on a price that is not known. */
export type OpenFee = {
  hash: string
  blockHash: string
  block: number
  index: number
  /** The listed gas price. */
  price: string
}

/** The transactions of a page whose rows depend on prices that are not known. */
export function openFeesIn({ openFees, hash, block, index }: PageIndex): OpenFee[] {
  return openFees.map(([at, blockHash, price]) => {
    return { hash: hash[at] ?? '', blockHash, block: block[at] ?? 0, index: index[at] ?? 0, price }
  })
}
