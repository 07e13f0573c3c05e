import { ExportError } from '../core/model/errors.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import { hasEscapedText } from '../formats/index.ts'
import { mismatchError } from '../read/check-files.ts'
import { missingRowsWarning, rejectLines } from '../terminal/format.ts'
import type { LoadableUrl, WarehouseUrl } from './addresses.ts'
import { DIALECTS } from './ddl/dialects.ts'
import { checkNamespace, type TableNamespace } from './ddl/tables.ts'
import { warehouseScript } from './ddl/warehouse-script.ts'
import { type LoadSource, openLoadSource, type PlannedFile } from './open-source.ts'
import { type LoadPlan, planLoad, type TableMerge } from './plan-load.ts'
import { duplicateRowError, openReader, type Reader, readError } from './reader.ts'
import {
  assertUniqueName,
  identifyOutput,
  joinChainIds,
  type LoadRecord,
  manifestRecord,
  type OutputIdentity,
} from './records.ts'
import { createTarget, type LoadTarget } from './target.ts'

export type LoadOptions = {
  /** Tables to load. @default all tables of the manifest */
  readonly tables?: readonly Table[] | undefined
  /** Name under which the loads of this output are recorded. @default the job's name */
  readonly source?: string | undefined
  /** When changes are committed: once per load or after each file. @default 'load' */
  readonly commit?: 'load' | 'file' | undefined
  readonly signal: AbortSignal
  readonly onNotice: (message: string) => void
  /** Called before each file is loaded, after it passed the checks against the manifest. */
  readonly onFile: (name: string, rows: number) => void
}

export type LoadResult = {
  /** Rows and files loaded, by table. Absent for a table whose files had all been loaded before. */
  readonly loaded: Partial<Record<TableName, { rows: number; files: number }>>
  /** Files that had been loaded before. */
  readonly skipped: number
  /** Number of block ranges of replaced or removed files, whose rows were updated. */
  readonly updated: number
  /** Messages for the user. */
  readonly notices: readonly string[]
}

/** Checks the keys of a file together with those of the files before it. Resolves with the chain ids of its rows. */
type CheckKeys = Reader['checkKeys']

/**
 * Synchronizes a target with an output: skips files that are loaded, adds new ones and merges changed ones. If the
 * target supports transactions, the load is one transaction, or with `commit: 'file'` one per new file and one for the
 * corrections.
 *
 * @throws ExportError VERIFY_FAILED if a file does not match the manifest; its transaction is rolled back
 */
export async function loadOutput(
  source: LoadSource,
  target: LoadTarget,
  options: LoadOptions,
  checkKeys: CheckKeys,
): Promise<LoadResult> {
  await target.begin()
  try {
    const load = await prepare(source, target, options)
    await checkLocalKeys(load, checkKeys)
    return await runPlan(load, checkKeys)
  } catch (error) {
    await target.rollback()
    throw await explainFailure(error, source)
  }
}

type Load = {
  readonly source: LoadSource
  readonly target: LoadTarget
  readonly options: LoadOptions
  readonly plan: LoadPlan
  readonly identity: OutputIdentity
  /** Tables without rows: files are inserted directly, because they replace nothing. */
  readonly emptyTables: ReadonlySet<TableName>
  /** Chain ids of the rows of each file whose keys were checked. */
  readonly chainIds: Map<string, readonly string[]>
}

async function prepare(source: LoadSource, target: LoadTarget, options: LoadOptions): Promise<Load> {
  const { manifest, manifestSha256, location } = source
  const { tables = TABLES, onNotice } = options
  const listed = tables.filter(({ name }) => manifest.tables[name] !== undefined)
  if (listed.length === 0) throw noTablesError(source)
  await target.prepare(listed)
  const emptyTables = new Set<TableName>()
  for (const table of listed) if (await target.isEmpty(table)) emptyTables.add(table.name)
  const recorded = await target.records()
  const identity = identifyOutput(manifest, { location, source: options.source })
  assertUniqueName(identity, recorded)
  const { outputId } = identity
  const records = await forgetLostRows(target, recorded, { outputId, emptyTables, onNotice })
  await target.saveRecord(manifestRecord(identity, manifestSha256))
  const plan = planLoad({ manifest, identity, records, tables })
  await source.requireFiles(plan.steps.flat().flatMap(({ files }) => files))
  for (const notice of plan.notices) onNotice(notice)
  return { source, target, options, plan, identity, emptyTables, chainIds: new Map() }
}

/**
 * Throws VERIFY_FAILED for rows with duplicate keys before anything is loaded. Remote files are checked one by one when
 * they are loaded.
 */
async function checkLocalKeys(
  { plan, source, options, chainIds }: Load,
  checkKeys: CheckKeys,
): Promise<void> {
  if (source.isRemote) return
  for (const { table, files } of plan.steps.flat())
    for (const file of files) {
      options.signal.throwIfAborted()
      if (file.rows === 0) continue
      try {
        const local = await source.openUnchecked({ table, file })
        chainIds.set(file.path, await checkKeys(local).finally(local.readable.close))
      } catch (error) {
        // A file that cannot be read is reported when it is loaded.
        if (error instanceof ExportError) throw error
      }
    }
}

async function runPlan(load: Load, checkKeys: CheckKeys): Promise<LoadResult> {
  const { target, options, plan } = load
  const loaded: LoadResult['loaded'] = {}
  for (const [at, step] of plan.steps.entries()) {
    if (at > 0 && options.commit === 'file' && target.transactions === 'many') {
      await target.commit()
      await target.begin()
    }
    for (const merge of step) {
      await mergeFiles(merge, load, checkKeys)
      for (const file of merge.files) {
        const { rows = 0, files = 0 } = loaded[merge.table.name] ?? {}
        loaded[merge.table.name] = { rows: rows + file.rows, files: files + 1 }
      }
    }
  }
  options.signal.throwIfAborted()
  await target.commit()
  const updated = plan.steps.flat().reduce((sum, { removed }) => sum + removed.ranges.length, 0)
  return { loaded, skipped: plan.skipped, updated, notices: plan.notices }
}

/**
 * Inserts or merges files and saves their records. A target without transactions can be interrupted anywhere: files
 * without a record, and blocks of files that the export no longer has, are merged again.
 */
async function mergeFiles(
  { table, files, removed, kept, obsoleteRecords }: TableMerge,
  load: Load,
  checkKeys: CheckKeys,
): Promise<void> {
  const { target, emptyTables } = load
  const into = emptyTables.has(table.name) ? 'table' : 'stage'
  if (into === 'stage') await target.createStage(table)
  const records: LoadRecord[] = []
  for (const file of files) records.push(await insertFile({ table, file }, into, load, checkKeys))
  if (into === 'stage') {
    const duplicate = await target.findDuplicate(table, kept)
    if (duplicate !== undefined)
      throw duplicateRowError(files.map(({ path }) => path).join(', '), table, duplicate)
    await target.merge(table, removed)
  }
  for (const record of records) await target.saveRecord(record)
  await target.deleteRecords(obsoleteRecords)
}

async function insertFile(
  planned: PlannedFile,
  into: 'stage' | 'table',
  { source, target, identity, options, chainIds }: Load,
  checkKeys: CheckKeys,
): Promise<LoadRecord> {
  options.signal.throwIfAborted()
  const { table, file } = planned
  const { path, sha256, rows, fromBlock, toBlock } = file
  const local = await source.open(planned)
  options.onFile(path, rows)
  try {
    if (source.isRemote && rows > 0)
      chainIds.set(
        path,
        await checkKeys(local).catch((error: unknown) => {
          throw error instanceof ExportError ? error : readError(local, error)
        }),
      )
    const insertedRows = await target.insert(local, into)
    if (insertedRows !== rows) throw mismatchError(path, `expected ${rows} rows, found ${insertedRows}`)
    const chainId = joinChainIds(chainIds.get(path) ?? []) ?? identity.chainId
    const loaded = { table: table.name, path, sha256, fromBlock, toBlock, rows, chainId }
    return { ...identity, ...loaded, loadedAt: new Date().toISOString() }
  } finally {
    await source.release(local)
  }
}

type LostRowsOptions = {
  /** The output that is being loaded. */
  readonly outputId: string
  /** Tables without rows. */
  readonly emptyTables: ReadonlySet<TableName>
  readonly onNotice: (message: string) => void
}

/**
 * Deletes the records of files whose rows are gone because their table was dropped, renamed or emptied, so that the files
 * are loaded again. Returns the other records.
 */
async function forgetLostRows(
  target: LoadTarget,
  records: readonly LoadRecord[],
  { outputId, emptyTables, onNotice }: LostRowsOptions,
): Promise<readonly LoadRecord[]> {
  const lost = new Set<string>()
  for (const name of emptyTables) {
    const loaded = records.filter((record) => record.table === name && record.rows > 0)
    if (loaded.length === 0) continue
    lost.add(name)
    onNotice(`${name}: the table is empty, so the files that were loaded into it are loaded again`)
    const others = new Set(loaded.filter((other) => other.outputId !== outputId).map(({ job }) => job))
    for (const job of others)
      onNotice(`${name}: the rows of the output ${job} are missing until it is loaded again`)
  }
  await target.deleteRecords(records.filter(({ table }) => lost.has(table)))
  return records.filter(({ table }) => !lost.has(table))
}

/**
 * Replaces VERIFY_FAILED by LOAD_FAILED if the manifest has changed since it was read: a run then replaced the files
 * during the load.
 */
async function explainFailure(error: unknown, source: Pick<LoadSource, 'hasChanged'>): Promise<unknown> {
  if (!(error instanceof ExportError) || error.code !== 'VERIFY_FAILED') return error
  if (!(await source.hasChanged())) return error
  return new ExportError('LOAD_FAILED', `the output changed during the load (${error.message})`, {
    cause: error,
    fix: 'Run the same command again: it loads the current files.',
  })
}

function noTablesError({ manifest }: LoadSource): ExportError {
  return new ExportError('USAGE', 'the manifest lists none of these tables', {
    fix: `Choose from the tables of the manifest with --tables: ${Object.keys(manifest.tables).join(', ') || 'it has none'}.`,
  })
}

export type LoadIntoOptions = Omit<LoadOptions, 'signal' | 'onNotice' | 'onFile'> &
  Partial<Pick<LoadOptions, 'signal' | 'onNotice' | 'onFile'>> & {
    /** Schema and prefix of the tables. @default the engine's current schema, no prefix */
    readonly namespace?: TableNamespace
    /**
     * Remove the `'` that CSV exports write before text that a spreadsheet would evaluate. @default whether the export
     * escaped
     */
    readonly unescapeFormulas?: boolean | undefined
    /** DuckDB's memory limit; more data is spilled to disk. @default '256MB' */
    readonly memory?: string | undefined
    /** Delay before a failed download is retried, in milliseconds; doubles for each further attempt. @default 500 */
    readonly retryDelayMs?: number | undefined
  }

/**
 * Loads an output into a database. Loading the same output again gives the same rows.
 *
 * @param from the output folder, or the path or URL of its manifest
 * @param to the target database
 * @returns what was loaded, skipped and deleted
 * @throws ExportError USAGE, LOAD_FAILED, VERIFY_FAILED or OUTPUT_LOCKED, or the reason that `signal` was aborted with
 */
export async function loadInto(
  from: string,
  to: LoadableUrl,
  options: LoadIntoOptions = {},
): Promise<LoadResult> {
  const { namespace = {}, memory = '256MB', retryDelayMs, onNotice = noop, onFile = noop } = options
  const { signal = new AbortController().signal } = options
  checkNamespace(namespace, to.dialect)
  const source = await openLoadSource(from, { signal, retryDelayMs })
  try {
    const { scratchFolder, manifest } = source
    const { unescapeFormulas = hasEscapedText(manifest.job) } = options
    for (const line of [...rejectLines(manifest), ...missingRowsWarning(manifest)]) onNotice(line)
    const readerOptions = { unescapeFormulas, memory, scratchFolder }
    const reader = await openReader(readerOptions)
    try {
      const target = createTarget(await to.open(reader, readerOptions), namespace, to.schema)
      try {
        return await loadOutput(source, target, { ...options, onNotice, onFile, signal }, reader.checkKeys)
      } finally {
        await target.close()
      }
    } finally {
      await reader.close()
    }
  } finally {
    await source.close()
  }
}

export type PrintLoadOptions = Pick<LoadIntoOptions, 'tables' | 'unescapeFormulas'> & {
  readonly prefix?: string | undefined
  /** Location from which the warehouse reads the files: `gs://bucket/path` or `@stage/path`. */
  readonly filesAt?: string | undefined
}

/** Returns a script that loads an output into a warehouse that reads the files itself. Connects to nothing. */
export async function printLoad(
  from: string,
  { kind: engine, names }: WarehouseUrl,
  { tables, prefix, filesAt, ...options }: PrintLoadOptions = {},
): Promise<string> {
  checkNamespace({ prefix }, DIALECTS[engine])
  const { manifest, location, close } = await openLoadSource(from, { signal: new AbortController().signal })
  await close()
  const { unescapeFormulas = hasEscapedText(manifest.job) } = options
  const folder = location.includes('://') ? undefined : location
  return warehouseScript({ engine, manifest, names, folder, tables, unescapeFormulas, prefix, filesAt })
}

function noop(): void {}
