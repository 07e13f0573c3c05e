import { ExportError } from '../core/model/errors.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import { mismatchError } from '../read/check-files.ts'
import { createKeyCheck, duplicateRowError, type KeyCheck } from './check-keys.ts'
import type { LoadSource, PlannedFile } from './open-source.ts'
import {
  assertUniqueName,
  identifyOutput,
  joinChainIds,
  manifestRecord,
  type OutputIdentity,
} from './output-identity.ts'
import { type LoadPlan, planLoad, type TableMerge } from './plan-load.ts'
import type { LoadRecord, LoadTarget } from './target.ts'

export type LoadOptions = {
  /** Tables to load. @default all tables of the manifest */
  readonly tables?: readonly Table[] | undefined
  /** Name under which the loads of this output are recorded. @default the job's name */
  readonly source?: string | undefined
  /** When changes are committed: once per load or after each file. @default 'load' */
  readonly commit?: 'load' | 'file' | undefined
  /** Memory limit of the key check; more data is spilled to disk. @default '256MB' */
  readonly memory?: string | undefined
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
): Promise<LoadResult> {
  const keys = createKeyCheck(source.scratchFolder, options.memory ?? DEFAULT_MEMORY)
  try {
    return await loadChecked({ source, target, options, keys })
  } finally {
    await keys.close()
  }
}

const DEFAULT_MEMORY = '256MB'

type LoadContext = { source: LoadSource; target: LoadTarget; options: LoadOptions; keys: KeyCheck }

async function loadChecked(context: LoadContext): Promise<LoadResult> {
  const { source, target, options } = context
  await target.begin()
  try {
    return await runPlan(await prepare(source, target, options), context)
  } catch (thrown) {
    await target.rollback()
    throw await explainFailure(thrown, source)
  }
}

type PreparedLoad = {
  plan: LoadPlan
  identity: OutputIdentity
  /** Tables without rows: files are inserted directly, because they replace nothing. */
  emptyTables: ReadonlySet<TableName>
}

async function prepare(source: LoadSource, target: LoadTarget, options: LoadOptions): Promise<PreparedLoad> {
  const { manifest, manifestSha256, location } = source
  const { tables = TABLES } = options
  const listed = tables.filter(({ name }) => manifest.tables[name] !== undefined)
  if (listed.length === 0) throw noTablesError(source)
  await target.prepare(listed)
  const emptyTables = new Set<TableName>()
  for (const table of listed) if (await target.isEmpty(table)) emptyTables.add(table.name)
  const recorded = await target.records()
  const identity = identifyOutput(manifest, { location, source: options.source })
  assertUniqueName(identity, recorded)
  const { outputId } = identity
  const records = await forgetLostRows(target, recorded, {
    outputId,
    emptyTables,
    onNotice: options.onNotice,
  })
  await target.saveRecord(manifestRecord(identity, manifestSha256))
  const plan = planLoad({ manifest, identity, records, tables })
  await source.requireFiles(plan.steps.flat().flatMap(({ files }) => files))
  for (const notice of plan.notices) options.onNotice(notice)
  return { plan, identity, emptyTables }
}

/**
 * Throws VERIFY_FAILED for rows with duplicate keys before anything is loaded. Remote files are checked one by one when
 * they are loaded.
 */
async function checkRowKeys({ steps }: LoadPlan, { source, keys, options }: LoadContext): Promise<void> {
  for (const { table, files } of steps.flat()) {
    for (const file of files) {
      options.signal.throwIfAborted()
      if (file.rows === 0) continue
      try {
        const keyedFile = await source.openForKeyCheck(table, file)
        if (keyedFile !== undefined) await keys.add(keyedFile).finally(keyedFile.readable.close)
      } catch (thrown) {
        // A file that cannot be read is reported when it is loaded.
        if (thrown instanceof ExportError) throw thrown
      }
    }
  }
}

async function runPlan({ plan, ...prepared }: PreparedLoad, context: LoadContext): Promise<LoadResult> {
  const stepContext = { ...prepared, ...context }
  await checkRowKeys(plan, stepContext)
  const { target, options } = context
  const loaded: LoadResult['loaded'] = {}
  for (const [at, step] of plan.steps.entries()) {
    if (at > 0 && options.commit === 'file' && target.transactions === 'many') {
      await target.commit()
      await target.begin()
    }
    for (const merge of step) {
      await mergeFiles(merge, stepContext)
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

type MergeContext = LoadContext & Omit<PreparedLoad, 'plan'>

/**
 * Inserts or merges files and saves their records. A target without transactions can be interrupted anywhere: files
 * without a record, and blocks of files that the export no longer has, are merged again.
 */
async function mergeFiles(
  { table, files, removed, kept, obsoleteRecords }: TableMerge,
  context: MergeContext,
): Promise<void> {
  const { target, emptyTables } = context
  const into = emptyTables.has(table.name) ? 'table' : 'stage'
  if (into === 'stage') await target.createStage(table)
  const records: LoadRecord[] = []
  for (const file of files) records.push(await insertFile({ table, file }, into, context))
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
  { source, target, identity, options, keys }: MergeContext,
): Promise<LoadRecord> {
  options.signal.throwIfAborted()
  const { table, file } = planned
  const { path, sha256, rows, fromBlock, toBlock } = file
  const local = await source.open(planned)
  options.onFile(path, rows)
  try {
    if (source.isRemote && rows > 0) await keys.add({ table, name: path, readable: local.readable })
    const chainIds = rows === 0 ? [] : await target.chainIds(local)
    const insertedRows = await target.insert(local, into)
    if (insertedRows !== rows) throw mismatchError(path, `expected ${rows} rows, found ${insertedRows}`)
    const chainId = joinChainIds(chainIds) ?? identity.chainId
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
    const others = new Set(loaded.filter((one) => one.outputId !== outputId).map(({ job }) => job))
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
async function explainFailure(thrown: unknown, source: Pick<LoadSource, 'hasChanged'>): Promise<unknown> {
  if (!(thrown instanceof ExportError) || thrown.code !== 'VERIFY_FAILED') return thrown
  if (!(await source.hasChanged())) return thrown
  return new ExportError('LOAD_FAILED', `the output changed during the load (${thrown.message})`, {
    cause: thrown,
    fix: 'Run the same command again: it loads the current files.',
  })
}

function noTablesError({ manifest }: LoadSource): ExportError {
  return new ExportError('USAGE', 'the manifest lists none of these tables', {
    fix: `Choose from the tables of the manifest with --tables: ${Object.keys(manifest.tables).join(', ') || 'it has none'}.`,
  })
}
