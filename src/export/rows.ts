import { rm } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Spool } from '../checkpoint/checkpoint.ts'
import { openSpool } from '../checkpoint/open-checkpoint.ts'
import { checkCallOptions, OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { listingsOf } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { type Figures, newFigures } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { makeScratch } from '../core/platform/scratch-folder.ts'
import type { TableName, TableRows } from '../core/table/index.ts'
import { tablesNamed } from '../core/table/select-tables.ts'
import { createGate } from '../http/rate-limit/rate-limiter.ts'
import type { RetryOptions } from '../http/retry.ts'
import { startBounds } from '../http/run-limits.ts'
import { openDemo } from '../sources/data-api/open-demo.ts'
import { missingWords } from '../terminal/format.ts'
import { refusedWords } from '../terminal/incomplete-lines.ts'
import { cutSlices, placesIn } from '../transform/batches.ts'
import type { Reject } from '../transform/flatten-transaction.ts'
import type { PagePlace } from '../transform/merge/page-source.ts'
import { parseReject } from '../transform/reject-line.ts'
import { requireSameChain } from '../transform/require-one-chain.ts'
import { settleMoved } from '../transform/resolve-reorged.ts'
import type { StagedPlace } from '../transform/staged/staged-source.ts'
import { openWriteTasks, type WriteTasks } from '../transform/threads/task.ts'
import type { Slice, SliceRows } from '../transform/write-batch.ts'
import { writeContext } from '../transform/write-context.ts'
import { requireJob, SHARED_OPTIONS } from './check-call.ts'
import { crawlJob } from './fetch/fetch-job.ts'
import { openRequester, requireService } from './open-request-context.ts'
import { spoolIdentity } from './private-folder.ts'
import { createReopener } from './reopen-contradicted.ts'
import { rowsIn } from './typed-rows.ts'

/** How `rows` asks and where it keeps pages meanwhile. */
export type RowsOptions = {
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** Send the key unencrypted where the service is on another machine and its URL http. @default false */
  allowPlainHttp?: boolean | undefined
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
 * fast as they are taken, in bounded memory. A transaction that two wallets were shown differently is read again first, as
 * in `run`. The folder goes when the iteration ends, whichever way. Of the job, what says how files are written does not
 * matter. Throws ExportError: the codes of `run`; where blocks of a job of blocks are missing, after the last row; where
 * transactions are of several chains, before the first row of a second one.
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
  requireService(job, { ...options, apiKey: options.apiKey })
  requireTable(job, table)
  const bounds = startBounds({ signal: options.signal }, 'reading rows was aborted')
  const folder = await makeScratch('rows', options.folder)
  try {
    const demo = job.service.baseUrl === 'demo' ? await openDemo() : undefined
    const figures = newFigures(job.wallets.length, Date.now())
    const { requester, close } = openRequester(job, {
      ...options,
      ...{ demoUrl: demo?.url, gate: createGate(), limit: limitConcurrency(job.concurrency), figures },
      ...bounds,
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
      const crawl = () => crawlJob({ job, listings, requester, spool, figures, onPage: none, onNotice: none })
      const { onReject, onDetail = none } = options
      const reopen = createReopener({ job, spool, listings, onNotice: onDetail })
      for await (const row of readRows({ job, spool, folder, table, crawl, reopen, onReject })) {
        bounds.signal.throwIfAborted()
        yield row
      }
      requireAllRows(figures)
    } finally {
      await spool.close()
      await close()
      await demo?.close()
    }
  } catch (thrown) {
    throw toExportError(thrown)
  } finally {
    bounds.end()
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

/** Throws where rows are missing that the job asks for. */
function requireAllRows(figures: Figures): void {
  const { missing, refused } = figures
  if (refused.length > 0) {
    const names = refused.map(({ address }) => address).join(', ')
    throw new ExportError(
      'WALLETS_REFUSED',
      `all other rows were given, but ${refusedWords(refused)}: ${names}`,
    )
  }
  if (missing.length === 0) return
  throw new ExportError('BLOCKS_MISSING', `all rows were given, but ${missingWords(missing)}`, {
    fix: 'Ask again later, or for blocks that the service has.',
  })
}

type Reading<T extends TableName> = {
  job: Job
  spool: Spool
  folder: string
  table: T
  /** Reads what is open; resolves with the end, exclusive. */
  crawl: () => Promise<number>
  reopen: ReturnType<typeof createReopener>
  onReject: RowsOptions['onReject']
}

async function* readRows<T extends TableName>(reading: Reading<T>): AsyncGenerator<TableRows[T]> {
  const { job, table, onReject = () => {} } = reading
  const chains = new Set<string>()
  // Empty text is told from null in the lines that Parquet is made of.
  const asked = { ...job, tables: [table], format: 'parquet' as const, partitionBy: undefined }
  const context = { ...reading, job: asked, listings: listingsOf(job), wallets: job.wallets }
  const tasks = openWriteTasks(writeContext({ ...context, from: job.startBlock }))
  try {
    for (const { chunks, rejects } of await arrangeRows(reading, tasks)) {
      for (const line of rejects) onReject(parseReject(line))
      yield* rowsIn(table, chunks.get(table) ?? [], (chain) => {
        if (!chains.has(chain)) requireSameChain(job, [...chains.add(chain)])
      })
    }
  } finally {
    tasks.close()
  }
}

/** Every transaction in one slice; those that wallets were shown differently are read again first, as `run` does. */
async function arrangeRows<T extends TableName>(
  { job, spool, folder, crawl, reopen }: Reading<T>,
  tasks: WriteTasks,
): Promise<readonly SliceRows[]> {
  for (;;) {
    const range = { from: job.startBlock, to: await crawl() }
    const places = await stageAll(tasks, placesIn(spool.frames(listingsOf(job)), range))
    const rewrite = async (slice: Slice) => {
      await setImmediate()
      return tasks.run({ kind: 'slice', slice })
    }
    const made: SliceRows[] = []
    for (const slice of cutSlices(range, places)) made.push(await rewrite(slice))
    tasks.run({ kind: 'flush' })
    const slices = await settleMoved(made, { places, folder, rewrite })
    const contradicted = slices.reduce((sum, slice) => sum + slice.contradicted, 0)
    const contradictions = slices.flatMap((slice) => slice.contradictions)
    if (!(await reopen({ contradicted, contradictions }))) return slices
  }
}

/** Makes the rows of all pages; others have their turn between two. */
async function stageAll(tasks: WriteTasks, places: readonly PagePlace[]): Promise<StagedPlace[]> {
  const staged: StagedPlace[] = []
  for (const place of places) {
    const pages = tasks.run({ kind: 'stage', places: [place] })
    for (const { index } of pages) staged.push({ ...place, index })
    await setImmediate()
  }
  return staged
}
