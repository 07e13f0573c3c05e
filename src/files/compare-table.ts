import type { DuckDBConnection } from '@duckdb/node-api'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange, FormatName } from '../core/model/model.ts'
import type { Column, Table } from '../core/table/index.ts'
import { textCellSql, textColumns } from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { FORMATS, openDataFile, selectSql } from '../formats/index.ts'

export type Comparison = {
  table: Table
  format: FormatName
  /** Files with the old and the new rows, each in the order of the table. */
  before: readonly string[]
  after: readonly string[]
  /** Only rows of these blocks are compared. */
  range: BlockRange
  /** A connection whose temporary tables and views may be replaced. */
  connection: DuckDBConnection
  /** Folder for temporary files. */
  folder: string
  signal: AbortSignal
}

/** Rows of one block as JSON objects, in file order. A changed row is in both lists, in its old and its new form. */
export type ChangedBlock = { removed: string[]; added: string[] }

/**
 * Yields the rows of a table that differ between two sets of files, block by block in chain order. Cells are compared by
 * their CSV text. The first pass finds the differing blocks by the sum of the hashes of their rows. The second pass sorts
 * only the rows of these blocks (spilling to disk if necessary) and compares them block by block. Throws OUTPUT_FAILED.
 */
export async function* compareTable(comparison: Comparison): AsyncGenerator<ChangedBlock, void, void> {
  const { table, connection, signal } = comparison
  const interrupt = () => connection.interrupt()
  const opened: DataFile[] = []
  try {
    signal.throwIfAborted()
    signal.addEventListener('abort', interrupt)
    const sides = await openSides(comparison, opened)
    await runWithMemoryLimit(connection, createSidesView(comparison, sides))
    await runWithMemoryLimit(connection, FIND_BLOCKS)
    if ((await connection.runAndReadAll('select 1 from blocks limit 1')).currentRowCount === 0) return
    await runWithMemoryLimit(connection, findRows(table))
    yield* readBlocks(connection)
  } catch (cause) {
    signal.throwIfAborted()
    throw comparisonError(table, cause)
  } finally {
    signal.removeEventListener('abort', interrupt)
    for (const file of opened) await file.close()
  }
}

/** Tried in order. The first limit is usually enough; rows with long (untrusted) metadata may need more. */
const MEMORY_LIMITS = ['160MB', '320MB', '640MB', '2400MB']

async function runWithMemoryLimit(connection: DuckDBConnection, statement: string): Promise<void> {
  for (const [at, limit] of MEMORY_LIMITS.entries()) {
    try {
      await connection.run(`set memory_limit = '${limit}'`)
      await connection.run(statement)
      return
    } catch (cause) {
      const isOutOfMemory = cause instanceof Error && cause.message.startsWith('Out of Memory')
      if (!isOutOfMemory || at === MEMORY_LIMITS.length - 1) throw cause
    }
  }
}

type Sides = { before: readonly DataFile[]; after: readonly DataFile[] }

/** Opens the files of both sides and adds each to `opened`, so that the caller can close them even after an error. */
async function openSides({ before, after, format, folder }: Comparison, opened: DataFile[]): Promise<Sides> {
  const openAll = async (paths: readonly string[]) => {
    const from = opened.length
    for (const path of paths) opened.push(await openDataFile(path, format, folder))
    return opened.slice(from)
  }
  return { before: await openAll(before), after: await openAll(after) }
}

/** Returns SQL for a view of the rows of both sides. `@sign` is -1 for old and 1 for new rows. */
function createSidesView({ table, range, format }: Comparison, { before, after }: Sides): string {
  const { isTyped } = FORMATS[format]
  const cells = table.columns.map((column) => `${textCellSql(column, isTyped)} as "${column.name}"`)
  const { from, to } = range
  const side = (files: readonly DataFile[], sign: -1 | 1) => `
    select row_number() over () as "@row", ${sign} as "@sign", "block_number"::bigint as "@block",
      hash(${table.columns.map(({ name }) => `"${name}"`).join(', ')})::hugeint as "@hash", *
    from (${selectSql(files, cells, textColumns(table.columns))})
    where "block_number"::bigint >= ${from} and "block_number"::bigint < ${to}`
  const sides = [
    ...(before.length > 0 ? [side(before, -1)] : []),
    ...(after.length > 0 ? [side(after, 1)] : []),
  ]
  return `create or replace temp view sides as ${sides.join(' union all ')}`
}

const FIND_BLOCKS = `
  create or replace temp table blocks as select "@block" from sides
  group by all having sum("@hash" * "@sign") <> 0 or sum("@sign") <> 0`

/** Stores the rows of the differing blocks in a table: DuckDB does not report errors that end a streamed result early. */
function findRows(table: Table): string {
  return `
    create or replace temp table differing as select "@block", "@sign", ${rowAsJson(table)} as "@json" from (
      select * from sides where "@block" in (select "@block" from blocks) order by "@block", "@sign", "@row")`
}

/** Returns SQL for a row as JSON: 32- and 64-bit integers and booleans in native form, other types as text, null as null. */
function rowAsJson({ columns }: Table): string {
  const fields = columns.map(({ name, type }) => `"${name}" := "${name}"${JSON_NATIVE_TYPES[type] ?? ''}`)
  return `to_json(struct_pack(${fields.join(', ')}))::varchar`
}

const JSON_NATIVE_TYPES: Partial<Record<Column['type'], string>> = {
  int32: '::bigint',
  int64: '::bigint',
  bool: '::boolean',
}

async function* readBlocks(connection: DuckDBConnection): AsyncGenerator<ChangedBlock, void, void> {
  let block: unknown
  let [before, after]: [string[], string[]] = [[], []]
  for await (const [at, sign, row] of readRows(connection)) {
    if (at !== block && block !== undefined) {
      yield differenceOf(before, after)
      before = []
      after = []
    }
    block = at
    const side = sign === 1 ? after : before
    side.push(row as string)
  }
  if (block !== undefined) yield differenceOf(before, after)
}

/** Number of rows read per query. */
const BATCH_ROWS = 2_048

async function* readRows(connection: DuckDBConnection) {
  for (let from = 0; ; from += BATCH_ROWS) {
    const read = await connection.runAndReadAll(
      `select * from differing where rowid >= ${from} and rowid < ${from + BATCH_ROWS} order by rowid`,
    )
    const rows = read.getRowsJS()
    yield* rows
    if (rows.length < BATCH_ROWS) return
  }
}

function differenceOf(before: readonly string[], after: readonly string[]): ChangedBlock {
  return { removed: multisetDifference(before, after), added: multisetDifference(after, before) }
}

/** Returns `rows` without one occurrence for each row in `subtracted`. */
function multisetDifference(rows: readonly string[], subtracted: readonly string[]): string[] {
  const remaining = new Map<string, number>()
  for (const row of subtracted) remaining.set(row, (remaining.get(row) ?? 0) + 1)
  return rows.filter((row) => {
    const count = remaining.get(row) ?? 0
    if (count > 0) remaining.set(row, count - 1)
    return count === 0
  })
}

function comparisonError({ name }: Table, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ExportError(
    'OUTPUT_FAILED',
    `cannot compare ${name} with the earlier export: ${message.split('\n', 1)[0]}`,
    {
      cause,
      fix: 'Check the free space; where `walletlake verify` finds damaged files, export anew with --fresh.',
    },
  )
}
