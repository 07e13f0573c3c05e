import type { TableName } from '../../core/table/index.ts'
import { appendLines, type Chunk } from '../../files/chunk.ts'
import type { FlatTransaction } from '../flatten-transaction.ts'
import { type LineRange, lineRangeOf } from './page-index.ts'
import type { OpenPage, StagedItem, StagedReader } from './read-staged.ts'
import { linesPath, type StageFiles } from './stage-page.ts'

export type ChunkSources = {
  /** This thread's staging files, for lines that are copied or built again. */
  files: StageFiles
  reader: StagedReader
  /** Folder of the staging files. */
  folder: string
}

/**
 * Line ranges of at least this size stay in the staging file of their page and are referenced there, so that
 * the lines of a large wallet take disk space only once. Shorter ranges are copied together: jobs with many
 * wallets over the same blocks have too many of them to keep a reference to each in memory.
 */
const MIN_IN_PLACE_BYTES = 16_000

/** Consecutive transactions of a page. */
type TransactionRun = { page: OpenPage; first: number; last: number }

/**
 * Collects the lines of a batch in final order, per table: staged lines of pages, and lines that are built
 * again.
 */
export class BatchChunks {
  readonly #from: ChunkSources
  readonly #chunks: readonly Chunk[][]
  #partition: string | undefined
  #run: TransactionRun | undefined

  constructor(sources: ChunkSources) {
    // Buffered lines of other tasks must not become part of this batch.
    sources.files.flush()
    this.#from = sources
    this.#chunks = sources.files.tables.map(() => [])
  }

  /** Puts everything that is added from now on into this partition of each table. */
  startPartition(partition: string | undefined): void {
    if (partition === this.#partition) return
    this.#endRun()
    this.#flush()
    this.#partition = partition
  }

  /** Adds the staged lines of a transaction. */
  addStaged({ page, at }: StagedItem): void {
    const run = this.#run
    if (run?.page === page && run.last + 1 === at) run.last = at
    else {
      this.#endRun()
      this.#run = { page, first: at, last: at }
    }
  }

  /** Formats the rows of a transaction and adds the lines. */
  addRows({ prefix, rows }: FlatTransaction): void {
    this.#endRun()
    const { csv, tables } = this.#from.files
    const first = csv.formatPrefix(prefix)
    for (const { name, lines } of tables) for (const row of rows[name]) lines.add(row, first)
    this.#flushIfFull()
  }

  finish(): Map<TableName, readonly Chunk[]> {
    this.#endRun()
    this.#flush()
    return new Map(this.#from.files.tables.map(({ name }, table) => [name, this.#chunks[table] ?? []]))
  }

  #endRun(): void {
    if (this.#run === undefined) return
    const { page, first, last } = this.#run
    this.#run = undefined
    for (const [table, lines] of page.index.lines.entries())
      this.#place(table, page, lineRangeOf(lines, first, last))
    this.#flushIfFull()
  }

  #place(table: number, page: OpenPage, range: LineRange): void {
    const { files, reader, folder } = this.#from
    const stage = files.tables[table]
    if (stage === undefined || range.bytes === 0) return
    if (range.bytes >= MIN_IN_PLACE_BYTES) {
      this.#flushTable(table)
      this.#add(table, { path: linesPath(folder, stage.name, page.location.index.thread), ...range })
    } else stage.lines.fill(range, (buffer) => reader.readLines({ page, table, start: range.start }, buffer))
  }

  #flushIfFull(): void {
    if (this.#from.files.isFull()) this.#flush()
  }

  #flush(): void {
    for (const table of this.#chunks.keys()) this.#flushTable(table)
  }

  #flushTable(table: number): void {
    const stage = this.#from.files.tables[table]
    if (stage === undefined || stage.lines.size() === 0) return
    this.#add(table, appendLines(stage.file, stage.lines.drain()))
  }

  #add(table: number, chunk: Chunk): void {
    this.#chunks[table]?.push({ ...chunk, partition: this.#partition })
  }
}
