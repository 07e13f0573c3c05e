import { ExportError } from '../core/model/errors.ts'
import type { ManifestFile } from '../core/model/manifest.ts'
import { TABLES, type Table, type TableName } from '../core/table/index.ts'
import { mismatch } from '../read/check-files.ts'
import { createKeyCheck, type KeyCheck, type KeyedFile } from './check-keys.ts'
import type { Source } from './open-source.ts'
import {
  identifyOutput,
  joinChainIds,
  manifestRecord,
  type OutputIdentity,
  refuseNamesake,
} from './output-identity.ts'
import { type LoadPlan, type PlannedFile, planLoad, type Step } from './plan-load.ts'
import type { LoadRecord, Target } from './target.ts'

export type LoadOptions = {
  /** Only these tables. @default all that the manifest has */
  readonly tables?: readonly Table[] | undefined
  /** Name that the loads of this output are remembered under. @default the job's name */
  readonly source?: string | undefined
  /** When changes become visible: all at once, or each file by itself. @default 'load' */
  readonly commit?: 'load' | 'file' | undefined
  /** Memory that the comparison of keys may take before it moves to the disk. @default '256MB' */
  readonly memory?: string | undefined
  readonly signal: AbortSignal
  readonly onNotice: (message: string) => void
  /** Told of each file that is about to be loaded, once it was found to be what the manifest says. */
  readonly onFile: (name: string, rows: number) => void
}

export type LoadResult = {
  /** Rows and files put in, by table; a table whose files were all there already is absent. */
  readonly loaded: Partial<Record<TableName, { rows: number; files: number }>>
  /** Files that were in the target already. */
  readonly skipped: number
  /** Ranges of blocks whose rows were removed before files were put in. */
  readonly cleared: number
  /** What a person has to know. */
  readonly notices: readonly string[]
}

/**
 * Brings a target to the state of an output: what is there is skipped, what is new is added, what was replaced is
 * replaced. Everything is one transaction where the target has them (or one for each file, with the corrections as the
 * first). Throws VERIFY_FAILED where a file is not what the manifest says; then nothing of its transaction stays.
 */
export async function loadOutput(source: Source, target: Target, options: LoadOptions): Promise<LoadResult> {
  const keys = createKeyCheck(source.scratch, options.memory ?? MEMORY)
  try {
    return await loadChecked({ source, target, options, keys })
  } finally {
    await keys.close()
  }
}

const MEMORY = '256MB'

type Loading = { source: Source; target: Target; options: LoadOptions; keys: KeyCheck }

async function loadChecked(loading: Loading): Promise<LoadResult> {
  const { source, target, options } = loading
  await target.begin()
  try {
    return await runPlan(await prepare(source, target, options), loading)
  } catch (thrown) {
    await target.rollback()
    throw await explain(thrown, source)
  }
}

type Prepared = {
  plan: LoadPlan
  identity: OutputIdentity
  known: ReadonlySet<TableName>
  /** Tables with rows of files at an address that were loaded before, which are not read again. */
  unread: ReadonlySet<string>
}

async function prepare(source: Source, target: Target, options: LoadOptions): Promise<Prepared> {
  const { manifest, manifestSha256, location } = source
  const { tables = TABLES } = options
  const listed = tables.filter(({ name }) => manifest.tables[name] !== undefined)
  if (listed.length === 0) throw noTables(source)
  await target.prepare(listed)
  const records = await target.records()
  const identity = identifyOutput(manifest, { location, source: options.source })
  refuseNamesake(identity, records)
  await target.remember(manifestRecord(identity, manifestSha256))
  const plan = planLoad({ manifest, identity, records, tables })
  await source.requireFiles(plan.steps.flatMap(({ files }) => files.map(({ file }) => file)))
  for (const notice of plan.notices) options.onNotice(notice)
  const earlier = records.filter(({ outputId, rows }) => outputId === identity.outputId && rows > 0)
  const unread = new Set(source.isRemote ? earlier.map(({ table }) => table) : [])
  return { plan, identity, unread, known: await knownTables(target, plan, { records, identity, unread }) }
}

function noTables({ manifest }: Source): ExportError {
  return new ExportError('USAGE', 'the manifest lists none of these tables', {
    fix: `It has ${Object.keys(manifest.tables).join(', ') || 'none at all'}: name some of those with --tables.`,
  })
}

type Earlier = Pick<Prepared, 'identity' | 'unread'> & { records: readonly LoadRecord[] }

/**
 * Tables that hold nothing but earlier loads of this output: what is added there replaces nothing. Files at an address are not
 * compared with those that were loaded before, so they replace rows of the same key.
 */
async function knownTables(
  target: Target,
  plan: LoadPlan,
  { records, identity, unread }: Earlier,
): Promise<ReadonlySet<TableName>> {
  const known = new Set<TableName>()
  for (const table of new Set(plan.steps.flatMap(({ files }) => files.map((planned) => planned.table)))) {
    const here = records.filter((record) => record.table === table.name)
    if (here.some(({ outputId }) => outputId !== identity.outputId)) continue
    if (unread.has(table.name)) continue
    const rows = here.reduce((sum, record) => sum + record.rows, 0)
    if (await target.holdsOnly(table, rows)) known.add(table.name)
  }
  return known
}

/** Refuses an export of which two rows have one key, before anything is loaded; of files at an address, as they come. */
async function checkKeys({ steps }: LoadPlan, { source, keys, options }: Loading): Promise<void> {
  const planned = steps.flatMap(({ files }) => files)
  const isPlanned = new Set(planned.map(({ file }) => file.path))
  const compareEach = async (
    table: Table,
    file: ManifestFile,
    compare: (file: KeyedFile) => Promise<void>,
  ) => {
    options.signal.throwIfAborted()
    try {
      const looked = file.rows === 0 ? undefined : await source.look(table, file)
      if (looked !== undefined) await compare(looked).finally(looked.readable.close)
    } catch (thrown) {
      // What cannot be read is refused when it is loaded, with the reason.
      if (thrown instanceof ExportError) throw thrown
    }
  }
  for (const { table, file } of planned) await compareEach(table, file, keys.add)
  for (const table of new Set(planned.map((one) => one.table)))
    for (const file of source.manifest.tables[table.name]?.files ?? [])
      if (!isPlanned.has(file.path)) await compareEach(table, file, keys.compare)
}

type Running = Omit<Prepared, 'plan'> & {
  keys: KeyCheck
  source: Source
  target: Target
  options: LoadOptions
}

async function runPlan({ plan, ...prepared }: Prepared, given: Loading): Promise<LoadResult> {
  const running = { ...prepared, ...given }
  await checkKeys(plan, running)
  const { target, options } = given
  const loaded: LoadResult['loaded'] = {}
  for (const [at, step] of plan.steps.entries()) {
    if (at > 0 && options.commit === 'file' && target.transactions === 'many') {
      await target.commit()
      await target.begin()
    }
    await runStep(step, running)
    for (const { table, file } of step.files) {
      const { rows = 0, files = 0 } = loaded[table.name] ?? {}
      loaded[table.name] = { rows: rows + file.rows, files: files + 1 }
    }
  }
  options.signal.throwIfAborted()
  await target.commit()
  const cleared = plan.steps.reduce((sum, { clear }) => sum + clear.length, 0)
  return { loaded, skipped: plan.skipped, cleared, notices: plan.notices }
}

async function runStep({ unload, clear, files, forget }: Step, running: Running): Promise<void> {
  const { target } = running
  await target.forget(unload)
  for (const { table, range, chainIds } of clear)
    for (const chainId of chainIds) await target.deleteBlocks(table, { ...range, chainId })
  await target.forget(forget)
  for (const planned of files) await loadFile(planned, running)
}

async function loadFile(
  planned: PlannedFile,
  { source, target, identity, known, unread, options, keys }: Running,
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
    const least = await leastRows(table, { target, identity, unread })
    const found = await target.insert(local, { append: known.has(table.name) && !reload })
    if (found !== rows) throw mismatch(path, `expected ${rows} rows, found ${found}`)
    if (least > 0 && (await target.countRows(table)) < least + rows) throw repeatedRow(path)
  } finally {
    await source.release(local)
  }
  const chainId = joinChainIds(chainIds) ?? identity.chainId
  const loaded = { table: table.name, path, sha256, fromBlock, toBlock, rows, chainId }
  await target.remember({ ...identity, ...loaded, loadedAt: new Date().toISOString() })
}

/**
 * How many rows of this output the table holds for sure. Files at an address are not read again once they are loaded: that a new
 * one has the key of an earlier row shows in the number of rows. Rows of other outputs in the table may hide it.
 */
async function leastRows(
  table: Table,
  { target, identity, unread }: Pick<Running, 'target' | 'identity' | 'unread'>,
): Promise<number> {
  if (!unread.has(table.name)) return 0
  const ours = (await target.records()).filter(
    (record) => record.table === table.name && record.outputId === identity.outputId,
  )
  const recorded = ours.reduce((sum, { rows }) => sum + rows, 0)
  return recorded === 0 ? 0 : Math.min(recorded, await target.countRows(table))
}

function repeatedRow(path: string): ExportError {
  const what = `${path}: the export has a row twice, in this file and in one that is loaded already`
  return new ExportError('VERIFY_FAILED', what, {
    fix: 'Export again with run --fresh, then load again; walletlake verify names all such rows.',
  })
}

/** A file that does not fit its manifest may be a sign that a run has just replaced both. */
async function explain(thrown: unknown, source: Source): Promise<unknown> {
  if (!(thrown instanceof ExportError) || thrown.code !== 'VERIFY_FAILED') return thrown
  if (!(await source.hasChanged())) return thrown
  return new ExportError('LOAD_FAILED', `the output was written anew during the load (${thrown.message})`, {
    cause: thrown,
    fix: 'Run the same command again: it loads what the output holds now.',
  })
}
