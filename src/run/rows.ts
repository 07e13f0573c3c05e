import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openPlaces } from '../assemble/open-places.ts'
import { placesIn } from '../assemble/slicer.ts'
import { createGate } from '../client/gate/gate.ts'
import { openDemo } from '../client/open-demo.ts'
import { openRequester, requireService } from '../client/open-requester.ts'
import type { RetryOptions } from '../client/retry.ts'
import { type ByteText, toBytes, toText } from '../core/byte-text.ts'
import { checkCallOptions, OPTION, type OptionCheck } from '../core/call-options.ts'
import { ExportError, toExportError } from '../core/errors.ts'
import { type Figures, newFigures } from '../core/figures.ts'
import { followSignal } from '../core/follow-signal.ts'
import { limitConcurrency } from '../core/limit.ts'
import { listingsOf } from '../core/listings.ts'
import type { Job } from '../core/model.ts'
import { makeScratch } from '../core/scratch-folder.ts'
import { type Cell, type TableName, type TableRows, tableNamed } from '../core/table/index.ts'
import { tablesNamed } from '../core/table/tables-named.ts'
import { crawlJob } from '../crawl/crawl.ts'
import { flattenTransaction, type Reject } from '../flatten/flatten-transaction.ts'
import { sortExternally } from '../merge/external-sort.ts'
import { mergeItems } from '../merge/merge-items.ts'
import { openSource, type SourcePlace } from '../merge/source-place.ts'
import { missingWords } from '../report/words.ts'
import { openSpool, type Spool } from '../spool/spool.ts'
import { requireJob, SHARED_OPTIONS } from './check-call.ts'
import { spoolIdentity } from './private-folder.ts'

/** How `rows` asks and where it keeps pages meanwhile. */
export type RowsOptions = {
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** Aborting it ends the rows with an error: with the reason if that is an ExportError, else with INTERRUPTED. */
  signal?: AbortSignal
  retry?: RetryOptions
  /** Folder in which a temporary one is made, for as long as rows are read. @default the system's */
  folder?: string
  /** Told of records that cannot be normalized and so give no row. @default nobody */
  onReject?: (reject: Reject) => void
  /** One line about each retry and refusal. @default nobody */
  onDetail?: (detail: string) => void
}

/**
 * The rows of one table, in its order, as an export of the job would write them, without leaving a file.
 *
 * Pages are kept in a temporary folder until all of them are there; then rows come one transaction after the other, as
 * fast as they are taken, in bounded memory. The folder goes when the iteration ends, whichever way. Of the job, what
 * says how files are written does not matter. Throws ExportError: the codes of `run`; where blocks of a job of blocks
 * are missing, after the last row.
 */
export function rows<T extends TableName>(
  job: Job,
  table: T,
  options: RowsOptions = {},
): AsyncGenerator<TableRows[T], void, void> {
  return readTable(job, table, options)
}

async function* readTable<T extends TableName>(
  job: Job,
  table: T,
  options: RowsOptions,
): AsyncGenerator<TableRows[T], void, void> {
  checkCallOptions('rows', options, ROWS_OPTIONS)
  requireJob(job)
  requireService(job)
  requireTable(job, table)
  const { stop, forget } = followSignal(options.signal, 'reading rows was aborted')
  const folder = await makeScratch('rows', options.folder)
  try {
    const demo = job.service.baseUrl === 'demo' ? await openDemo() : undefined
    const figures = newFigures(job.wallets.length, Date.now())
    const { requester, close } = openRequester(job, {
      ...options,
      ...{ demoUrl: demo?.url, gate: createGate(), limit: limitConcurrency(job.concurrency), figures },
      ...{ signal: stop.signal, spend: () => {}, onDetail: options.onDetail ?? (() => {}) },
    })
    const spool = await openSpool({
      folder,
      identity: spoolIdentity(job),
      now: Date.now(),
      onDamage: () => {},
    })
    try {
      const listings = listingsOf(job)
      const none = () => {}
      const end = await crawlJob({ job, listings, requester, spool, figures, onPage: none, onNotice: none })
      for await (const row of readRows({ job, spool, folder, end, table, onReject: options.onReject })) {
        stop.signal.throwIfAborted()
        yield toObject(table, row)
      }
      requireAllBlocks(figures)
    } finally {
      await spool.close()
      await close()
      await demo?.close()
    }
  } catch (thrown) {
    throw toExportError(thrown)
  } finally {
    forget()
    await rm(folder, { recursive: true, force: true })
  }
}

const ROWS_OPTIONS = {
  ...SHARED_OPTIONS,
  folder: OPTION.text,
  onReject: OPTION.listener,
} as const satisfies Record<keyof RowsOptions, OptionCheck>

function requireTable({ kind }: Job, table: TableName): void {
  tablesNamed([table])
  if (kind === 'wallets' || table === 'transactions') return
  throw new ExportError('USAGE', `a job of blocks has no rows of ${table}`, {
    fix: 'Ask for transactions: a block listing has nothing else.',
  })
}

function requireAllBlocks({ missing }: Figures): void {
  if (missing.length === 0) return
  throw new ExportError('BLOCKS_MISSING', `all rows were given, but ${missingWords(missing)}`, {
    fix: 'Ask again later, or for blocks that the service has.',
  })
}

type Reading = {
  job: Job
  spool: Spool
  folder: string
  /** Exclusive. */
  end: number
  table: TableName
  onReject: RowsOptions['onReject']
}

/** A row's cells by column; text is bytes. */
type Row = Readonly<Record<string, Cell>>

async function* readRows({ job, spool, folder, end, table, onReject }: Reading): AsyncGenerator<Row> {
  const wallets = new Map(job.wallets.map(({ address, label }) => [address, label && toBytes(label)]))
  const range = { from: job.startBlock, to: end }
  const runsFile = join(folder, 'sorted-runs')
  const { read, close } = openPlaces({ pagesFile: spool.path, runsFile })
  const open = (place: SourcePlace) => openSource(place, { read, range, cutMs: spool.cutMs })
  const [chain, nativeSymbol] = [toBytes(job.chain), job.nativeSymbol && toBytes(job.nativeSymbol)]
  const context = { chain, nativeSymbol, wallets, tables: new Set([table]), onReject: onReject ?? (() => {}) }
  try {
    const frames = spool.frames(listingsOf(job))
    const sources = await sortExternally(placesIn(frames, range), { file: runsFile, open })
    for (const views of mergeItems(sources.map(open))) {
      const flat = flattenTransaction(views, context)
      for (const cells of flat?.rows[table] ?? []) yield { ...flat?.prefix, ...cells }
    }
  } finally {
    close()
  }
}

function toObject<T extends TableName>(table: T, row: Row): TableRows[T] {
  const cells = tableNamed(table).columns.map(({ name, type }) => {
    const cell = row[name] ?? null
    if (cell === null || type === 'bool') return [name, cell]
    if (type === 'text') return [name, toText(cell as ByteText)]
    if (type === 'int64') return [name, BigInt(cell)]
    if (type === 'time') return [name, new Date(Number(cell))]
    return [name, type === 'int32' ? Number(cell) : String(cell)]
  })
  return Object.fromEntries(cells) as TableRows[T]
}
