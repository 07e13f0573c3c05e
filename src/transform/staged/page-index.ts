import type { ByteText } from '../../core/platform/byte-text.ts'

/**
 * What is known of a page whose rows are made: its transactions in chain order, a list for each of their fields, and where
 * their lines lie.
 */
export type PageIndex = {
  block: number[]
  index: number[]
  hash: ByteText[]
  timeMs: number[]
  /** Place in the page's list. */
  listIndex: number[]
  /** False where the transaction could not be normalized and has no rows. */
  isNormalized: boolean[]
  /** Whether its status and its fee are unknown. */
  isStatusUnknown: boolean[]
  isFeeUnknown: boolean[]
  /** Of each table of the job, in the job's order. */
  lines: TableLines[]
  /** Lines of `rejects.ndjson`, each with the number of its transaction here. */
  rejects: [at: number, line: string][]
  /** Logs that a transaction lists in more than one of the ERC lists, where it has any, with its number here. */
  repeatedLogs: [at: number, count: number][]
  /** Entries of the page's list, those without a place too. */
  entries: number
}

/** A page's lines of one table follow each other in the file of the thread that made them. */
export type TableLines = {
  /** The byte of the file that they begin with. */
  start: number
  /** Of each transaction, where its lines end, counted from `start`, and how many rows there are up to there. */
  ends: number[]
  rows: number[]
  /** Bytes of the longest line. */
  maxLineBytes: number
}

/** Where a page's index lies, and in files of which thread its lines. */
export type IndexLocation = { thread: number; offset: number; bytes: number }

export const indexBytes = (index: PageIndex): Buffer => Buffer.from(JSON.stringify(index))

/** Lines that follow each other: of `rows` rows, from the byte `start` of their file on. */
export type LineRange = { start: number; bytes: number; rows: number; maxLineBytes: number }

/** The lines that a table has of the transactions `first` to `last` of a page. */
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
