import type { TableName } from '../../core/table/index.ts'
import { appendLines, type Chunk } from '../../files/chunk.ts'
import type { FlatTransaction } from '../flatten-transaction.ts'
import { type LineRange, lineRangeOf } from './page-index.ts'
import type { StagedReader } from './read-staged.ts'
import { linesPath, type StageFiles } from './stage-files.ts'
import type { OpenPage, StagedItem } from './staged-source.ts'

export type ChunkSources = {
  /** This thread's, for lines that are copied or made anew. */
  files: StageFiles
  reader: StagedReader
  /** Where lines are staged. */
  folder: string
}

/**
 * Longer stretches of a page's lines stay where they are, and files are made of them there: a large wallet's lines need their
 * room on the disk once. Shorter ones are copied together: of many wallets over the same blocks there are more of them than
 * memory has room for.
 */
const MIN_IN_PLACE_BYTES = 16_000

/** Transactions of a page that follow each other. */
type TransactionRun = { page: OpenPage; first: number; last: number }

/** The lines of a slice's tables, in their final order: of pages, as they were staged, or made anew. */
export class BatchChunks {
  readonly #from: ChunkSources
  readonly #chunks: readonly Chunk[][]
  #partition: string | undefined
  #run: TransactionRun | undefined

  constructor(sources: ChunkSources) {
    // What other pages have waiting is none of this slice's.
    sources.files.flush()
    this.#from = sources
    this.#chunks = sources.files.tables.map(() => [])
  }

  /** What comes from here on belongs into this folder of each table. */
  startPartition(partition: string | undefined): void {
    if (partition === this.#partition) return
    this.#endRun()
    this.#flush()
    this.#partition = partition
  }

  /** Takes the lines of a transaction as they were staged. */
  addStaged({ page, at }: StagedItem): void {
    const run = this.#run
    if (run?.page === page && run.last + 1 === at) run.last = at
    else {
      this.#endRun()
      this.#run = { page, first: at, last: at }
    }
  }

  /** Makes lines of rows. */
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
