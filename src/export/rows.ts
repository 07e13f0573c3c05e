import { rm } from 'node:fs/promises'
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { checkCallOptions, OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { listingsOf } from '../core/model/listings.ts'
import type { Job } from '../core/model/model.ts'
import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { RetryOptions } from '../core/platform/retry.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import {
  type Column,
  type ColumnType,
  type TableName,
  type TableRows,
  tableByName,
} from '../core/table/index.ts'
import { selectTables } from '../core/table/select-tables.ts'
import { openDemo } from '../demo-server/open-demo.ts'
import { type Chunk, readLines } from '../files/chunk.ts'
import { csvHeader } from '../formats/csv-lines.ts'
import { createRateLimiter, systemClock } from '../http/rate-limit/rate-limiter.ts'
import { type StartedRunLimits, startRunLimits } from '../http/run-limits.ts'
import { rowsOf } from '../read/export-csv-rows.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { folderStore } from '../storage/store.ts'
import { missingBlocksMessage } from '../terminal/format.ts'
import { refusedWalletsMessage } from '../terminal/incomplete-lines.ts'
import { requireSameChain } from '../transform/exported-files.ts'
import type { Reject } from '../transform/flatten-transaction.ts'
import { parseReject } from '../transform/reject-line.ts'
import type { BatchRows } from '../transform/write-batch.ts'
import { requireJob, SHARED_OPTIONS } from './check-job.ts'
import { openFeeResolver } from './fees/fee-resolver.ts'
import { fetchJob } from './fetch/fetch-job.ts'
import { CutoffLowered } from './fetch/reading.ts'
import { knownRateOf, openBudgetsOf, openRequestContext, requireService } from './open-request-context.ts'
import { type MergeResult, openOutputWriter } from './output-writer.ts'
import { checkpointIdentity } from './private-folder.ts'
import { createReopener } from './reopen-contradicted.ts'
import { noPreviousExport } from './resume/previous-export.ts'

/** Options of `rows`. */
export type RowsOptions = {
  /** API key. It is never stored. @default none */
  apiKey?: string | undefined
  /** Allow sending the key over unencrypted HTTP to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Aborts the iteration. It throws the abort reason if that is an ExportError, otherwise INTERRUPTED. */
  signal?: AbortSignal
  /** Number of retries and backoff. */
  retry?: RetryOptions
  /**
   * Parent of the temporary folder that holds pages during the iteration. @default the system's temporary
   * folder
   */
  folder?: string
  /** Called for each record that cannot be normalized and therefore yields no row. */
  onReject?: (reject: Reject) => void
  /** Called with one line per retry and per 429. */
  onDetail?: (detail: string) => void
}

/**
 * Yields the rows of one table in table order, exactly as an export of the job would contain them, without
 * writing an export.
 *
 * Pages are stored in a temporary folder. After all pages have arrived, rows are yielded with back-pressure
 * and in bounded memory. Transactions whose views contradict each other are read again first, like in `run`.
 * The temporary folder is deleted when the iteration ends, fails or is abandoned. Job fields that control how
 * files are written are ignored.
 *
 * @param job from `defineJob` or `readJob`
 * @param table a table of the export; block jobs have only `transactions`
 * @returns typed rows: `int64` is a bigint, `time` a Date, 256-bit integers and decimals are exact strings
 * @throws ExportError with the codes of `run`. BLOCKS_MISSING, WALLETS_REFUSED and LISTINGS_INCOMPLETE are
 * thrown after the last row; PAGE_MALFORMED, if transactions belong to several chains, before the first row of the second chain.
 * @example
 * for await (const { block_timestamp, value } of rows(job, 'ledger', { apiKey }))
 *   console.log(block_timestamp, BigInt(value))
 */
export async function* rows<T extends TableName>(
  job: Job,
  table: T,
  options: RowsOptions = {},
): AsyncGenerator<TableRows[T], void, void> {
  checkCallOptions('rows', options, ROWS_OPTIONS)
  requireJob(job)
  requireService(job, { ...options, apiKey: options.apiKey })
  requireTable(job, table)
  const limits = await startLimits(job, options)
  const folder = await createScratchFolder('rows', options.folder)
  try {
    const demo = job.service.baseUrl === 'demo' ? await openDemo(job.service.api) : undefined
    const stats = newRunStats(job.wallets.length, Date.now())
    const { requestContext, close } = openRequestContext(job, {
      ...options,
      demoUrl: demo?.url,
      rateLimiter: createRateLimiter(systemClock, knownRateOf([job])),
      limit: limitConcurrency(job.concurrency),
      stats,
      ...limits,
    })
    const checkpoint = await openCheckpoint({
      folder,
      identity: checkpointIdentity(job),
      now: Date.now(),
      onDamage: () => {},
    })
    try {
      const noop = () => {}
      const { onReject = noop, onDetail: onNotice = noop } = options
      const listings = listingsOf(job)
      const reading = { job, checkpoint, listings, requestContext, stats, onPage: noop, onNotice: noop }
      // The cutoff must not change any more once rows are built.
      await fetchJob(reading).catch((error: unknown) => {
        if (!(error instanceof CutoffLowered)) throw error
      })
      const reopen = createReopener({ job, checkpoint, listings, onNotice })
      const fees = openFeeResolver({ job, checkpoint, requestContext, stats, onNotice })
      // The staging format of Parquet distinguishes empty text from null.
      const format = { format: 'parquet' as const, partitionBy: undefined }
      const output = await openOutputWriter({
        job: { ...job, ...format, tables: [table], output: folder },
        store: folderStore(folder),
        checkpoint,
        stats,
        signal: limits.signal,
        previous: noPreviousExport(job),
        fees,
      })
      try {
        let merged: MergeResult
        do {
          stats.endBlock = await fetchJob(reading)
          await output.stage(stats.endBlock)
          merged = await output.merge()
        } while (await reopen(merged))
        for await (const row of readRows(job, table, merged.batches, onReject)) {
          limits.signal.throwIfAborted()
          yield row
        }
      } finally {
        await output.close()
      }
      requireComplete(stats)
      requireNoGaps(job.wallets.filter(({ address }) => checkpoint.gaps(address).length > 0))
    } finally {
      await checkpoint.close()
      await close()
      await demo?.close()
    }
  } catch (error) {
    throw toExportError(error)
  } finally {
    limits.end()
    await rm(folder, { recursive: true, force: true })
  }
}

async function startLimits(job: Job, { signal }: RowsOptions): Promise<StartedRunLimits> {
  const budgetOf = await openBudgetsOf([job])
  return startRunLimits({ signal }, 'reading rows was aborted', budgetOf(job))
}

const ROWS_OPTIONS = {
  ...SHARED_OPTIONS,
  folder: OPTION.text,
  onReject: OPTION.listener,
} as const satisfies Record<keyof RowsOptions, OptionCheck>

function requireTable({ kind }: Job, table: TableName): void {
  selectTables([table])
  if (kind === 'wallets' || table === 'transactions') return
  throw new ExportError('USAGE', `a blocks job has no table ${table}`, {
    fix: 'Use the table transactions: block listings contain nothing else.',
  })
}

/** Throws if wallets were refused or blocks are missing. */
function requireComplete(stats: RunStats): void {
  const { missing, refused } = stats
  if (refused.length > 0) {
    const names = refused.map(({ address }) => address).join(', ')
    throw new ExportError(
      'WALLETS_REFUSED',
      `all other rows were returned, but ${refusedWalletsMessage(refused)}: ${names}`,
    )
  }
  if (missing.length === 0) return
  throw new ExportError('BLOCKS_MISSING', `all rows were returned, but ${missingBlocksMessage(missing)}`, {
    fix: 'Try again later, or request blocks that the service has.',
  })
}

/** Throws if the service could not list blocks of wallets completely. */
function requireNoGaps(wallets: Job['wallets']): void {
  if (wallets.length === 0) return
  const names = wallets.map(({ address }) => address).join(', ')
  throw new ExportError(
    'LISTINGS_INCOMPLETE',
    `all other rows were returned, but the service could not list everything of ${names}`,
    { fix: 'Try again later, or name another service of the same chain.' },
  )
}

async function* readRows<T extends TableName>(
  job: Job,
  table: T,
  batches: readonly BatchRows[],
  onReject: (reject: Reject) => void,
): AsyncGenerator<TableRows[T]> {
  const chains = new Set<string>()
  for (const { chunks, rejects } of batches) {
    for (const line of rejects) onReject(parseReject(line))
    yield* rowsIn(table, chunks.get(table) ?? [], (chain) => {
      if (!chains.has(chain)) requireSameChain(job, [...chains.add(chain)])
    })
  }
}

/**
 * Yields typed rows of a table from staged lines. `onChain` is called with the chain id of each row before it
 * is yielded.
 */
async function* rowsIn<T extends TableName>(
  table: T,
  chunks: readonly Chunk[],
  onChain: (chain: string) => void,
): AsyncGenerator<TableRows[T]> {
  const { columns } = tableByName(table)
  const names = columns.map(({ name }) => name)
  const chainAt = names.indexOf('chain_id')
  for await (const rows of rowsOf(withHeader(columns, chunks), { columns, names, isEscaped: false }))
    for (const row of rows) {
      onChain(row[chainAt] ?? '')
      yield toObject(columns, row)
    }
}

async function* withHeader(columns: readonly Column[], chunks: readonly Chunk[]): AsyncGenerator<Buffer> {
  yield Buffer.from(`${csvHeader(columns)}\n`)
  // The reader keeps the incomplete last line of a block, and `readLines` reuses the buffer, so the block is
  // copied.
  for (const block of readLines(chunks)) yield Buffer.from(block)
}

function toObject<T extends TableName>(columns: readonly Column[], row: TextRow): TableRows[T] {
  const cells = columns.map(({ name, type }, at) => {
    const text = row[at] ?? null
    return [name, text === null ? null : cellOf(type, text)]
  })
  return Object.fromEntries(cells) as TableRows[T]
}

function cellOf(type: ColumnType, text: string) {
  if (type === 'bool') return text === 'true'
  if (type === 'int64') return BigInt(text)
  if (type === 'int32') return Number(text)
  return type === 'time' ? new Date(text) : text
}
