import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile } from '../core/model/manifest.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import { mismatchError } from '../read/check-files.ts'
import { createKeyCheck, type KeyCheck, type KeyedFile } from './check-keys.ts'
import { forgetLostRows } from './forget-lost-rows.ts'
import { duplicateRowError, explainFailure, noTablesError } from './load-errors.ts'
import type { LoadSource } from './open-source.ts'
import {
  assertUniqueName,
  identifyOutput,
  joinChainIds,
  manifestRecord,
  type OutputIdentity,
} from './output-identity.ts'
import { type LoadPlan, type LoadStep, type PlannedFile, planLoad } from './plan-load.ts'
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
  /** Number of block ranges whose rows were deleted before files were loaded. */
  readonly cleared: number
  /** Messages for the user. */
  readonly notices: readonly string[]
}

/**
 * Synchronizes a target with an output: skips files that are loaded, adds new ones and replaces changed ones. If the
 * target supports transactions, the load is one transaction, or with `commit: 'file'` one for the corrections and one
 * per new file.
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
  appendableTables: ReadonlySet<TableName>
  /**
   * Tables with rows of remote files that earlier loads brought; those files are not downloaded again to compare keys.
   */
  uncheckedTables: ReadonlySet<string>
}

async function prepare(source: LoadSource, target: LoadTarget, options: LoadOptions): Promise<PreparedLoad> {
  const { manifest, manifestSha256, location } = source
  const { tables = TABLES } = options
  const listed = tables.filter(({ name }) => manifest.tables[name] !== undefined)
  if (listed.length === 0) throw noTablesError(source)
  await target.prepare(listed)
  const recorded = await target.records()
  const identity = identifyOutput(manifest, { location, source: options.source })
  assertUniqueName(identity, recorded)
  const { outputId } = identity
  const records = await forgetLostRows(target, recorded, {
    outputId,
    tables: listed,
    onNotice: options.onNotice,
  })
  await target.saveRecord(manifestRecord(identity, manifestSha256))
  const plan = planLoad({ manifest, identity, records, tables })
  await source.requireFiles(plan.steps.flatMap(({ files }) => files.map(({ file }) => file)))
  for (const notice of plan.notices) options.onNotice(notice)
  const previous = records.filter((record) => record.outputId === outputId && record.rows > 0)
  const uncheckedTables = new Set(source.isRemote ? previous.map(({ table }) => table) : [])
  return {
    plan,
    identity,
    uncheckedTables,
    appendableTables: await findAppendableTables(target, plan, { records, identity, uncheckedTables }),
  }
}

type PreviousLoads = Pick<PreparedLoad, 'identity' | 'uncheckedTables'> & { records: readonly LoadRecord[] }

/**
 * Finds the tables that contain only rows of earlier loads of this output. New files can be appended there, because
 * they replace nothing. Tables with rows of remote files are excluded: new files are not compared with the earlier
 * ones, so they must replace rows with the same key.
 */
async function findAppendableTables(
  target: LoadTarget,
  plan: LoadPlan,
  { records, identity, uncheckedTables }: PreviousLoads,
): Promise<ReadonlySet<TableName>> {
  const appendable = new Set<TableName>()
  for (const table of new Set(plan.steps.flatMap(({ files }) => files.map((planned) => planned.table)))) {
    const tableRecords = records.filter((record) => record.table === table.name)
    if (tableRecords.some(({ outputId }) => outputId !== identity.outputId)) continue
    if (uncheckedTables.has(table.name)) continue
    const rows = tableRecords.reduce((sum, record) => sum + record.rows, 0)
    if (await target.containsOnly(table, rows)) appendable.add(table.name)
  }
  return appendable
}

/**
 * Throws VERIFY_FAILED for rows with duplicate keys before anything is loaded. Remote files are checked one by one when
 * they are loaded.
 */
async function checkRowKeys({ steps }: LoadPlan, { source, keys, options }: LoadContext): Promise<void> {
  const planned = steps.flatMap(({ files }) => files)
  const isPlanned = new Set(planned.map(({ file }) => file.path))
  const compareEach = async (
    table: Table,
    file: ManifestFile,
    compare: (file: KeyedFile) => Promise<void>,
  ) => {
    options.signal.throwIfAborted()
    try {
      const keyedFile = file.rows === 0 ? undefined : await source.openForKeyCheck(table, file)
      if (keyedFile !== undefined) await compare(keyedFile).finally(keyedFile.readable.close)
    } catch (thrown) {
      // A file that cannot be read is reported when it is loaded.
      if (thrown instanceof ExportError) throw thrown
    }
  }
  for (const { table, file } of planned) await compareEach(table, file, keys.add)
  for (const table of new Set(planned.map((one) => one.table)))
    for (const file of source.manifest.tables[table.name]?.files ?? [])
      if (!isPlanned.has(file.path)) await compareEach(table, file, keys.compare)
}

type LoadStepContext = Omit<PreparedLoad, 'plan'> & {
  keys: KeyCheck
  source: LoadSource
  target: LoadTarget
  options: LoadOptions
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
    await runStep(step, stepContext)
    for (const { table, file } of step.files) {
      const { rows = 0, files = 0 } = loaded[table.name] ?? {}
      loaded[table.name] = { rows: rows + file.rows, files: files + 1 }
    }
  }
  options.signal.throwIfAborted()
  await target.commit()
  const cleared = plan.steps.reduce((sum, { deletions }) => sum + deletions.length, 0)
  return { loaded, skipped: plan.skipped, cleared, notices: plan.notices }
}

async function runStep(
  { recordsToReload, deletions, files, obsoleteRecords }: LoadStep,
  stepContext: LoadStepContext,
): Promise<void> {
  const { target } = stepContext
  await target.deleteRecords(recordsToReload)
  for (const { table, range, chainIds } of deletions)
    for (const chainId of chainIds) await target.deleteBlocks(table, { ...range, chainId })
  await target.deleteRecords(obsoleteRecords)
  for (const planned of files) await loadFile(planned, stepContext)
}

async function loadFile(
  planned: PlannedFile,
  { source, target, identity, appendableTables, uncheckedTables, options, keys }: LoadStepContext,
): Promise<void> {
  options.signal.throwIfAborted()
  const { table, file, reload } = planned
  const { path, sha256, rows, fromBlock, toBlock } = file
  const local = await source.open(planned)
  options.onFile(path, rows)
  let chainIds: readonly string[] = []
  try {
    if (source.isRemote && rows > 0) await keys.add({ table, name: path, readable: local.readable })
    chainIds = rows === 0 ? [] : await target.chainIds(local)
    const minExisting = await minExistingRows(table, { target, identity, uncheckedTables })
    const insertedRows = await target.insert(local, { append: appendableTables.has(table.name) && !reload })
    if (insertedRows !== rows) throw mismatchError(path, `expected ${rows} rows, found ${insertedRows}`)
    if (minExisting > 0 && (await target.countRows(table)) < minExisting + rows) throw duplicateRowError(path)
  } finally {
    await source.release(local)
  }
  const chainId = joinChainIds(chainIds) ?? identity.chainId
  const loaded = { table: table.name, path, sha256, fromBlock, toBlock, rows, chainId }
  await target.saveRecord({ ...identity, ...loaded, loadedAt: new Date().toISOString() })
}

/**
 * A lower bound for the rows of this output in the table, or 0 if no check is needed. Remote files are not downloaded
 * again once they are loaded; a new file that repeats the key of an earlier row is detected by the number of rows. Rows
 * of other outputs in the table can hide it.
 */
async function minExistingRows(
  table: Table,
  { target, identity, uncheckedTables }: Pick<LoadStepContext, 'target' | 'identity' | 'uncheckedTables'>,
): Promise<number> {
  if (!uncheckedTables.has(table.name)) return 0
  const ownRecords = (await target.records()).filter(
    (record) => record.table === table.name && record.outputId === identity.outputId,
  )
  const recorded = ownRecords.reduce((sum, { rows }) => sum + rows, 0)
  return recorded === 0 ? 0 : Math.min(recorded, await target.countRows(table))
}
