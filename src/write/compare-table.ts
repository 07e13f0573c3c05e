import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { ExportError } from '../errors.ts'
import type { BlockRange, Format } from '../model.ts'
import type { Column, Table } from '../table/index.ts'
import { textScan } from './text-scan.ts'

export type Comparison = {
  table: Table
  format: Format
  /** Files with the rows as they were and as they are, each in the table's order. */
  before: readonly string[]
  after: readonly string[]
  /** Only rows of these blocks count. */
  range: BlockRange
  /** For what does not fit into memory. */
  folder: string
  signal: AbortSignal
}

/** Rows of one block as JSON objects, in file order; a row that changed stands in both. */
export type ChangedBlock = { removed: string[]; added: string[] }

/**
 * Says which rows of a table differ between two sets of files, block by block in chain order. Cells are compared as the
 * text that CSV has for them. First the blocks that differ are found by a sum over hashes of their rows; only their rows
 * are looked at one by one, so that memory holds one block. Throws OUTPUT_FAILED.
 */
export async function* compareTable(comparison: Comparison): AsyncGenerator<ChangedBlock, void, void> {
  const { table, folder, signal } = comparison
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const settings = { threads: '1', memory_limit: '400MB', preserve_insertion_order: 'true' }
  const temp_directory = join(folder, 'compare.tmp')
  const instance = await DuckDBInstance.create(':memory:', { ...settings, temp_directory })
  const connection = await instance.connect()
  const breakOff = () => connection.interrupt()
  try {
    signal.throwIfAborted()
    signal.addEventListener('abort', breakOff)
    await connection.run(findBlocks(comparison))
    yield* readBlocks(connection, table)
  } catch (cause) {
    signal.throwIfAborted()
    throw incomparable(table, cause)
  } finally {
    signal.removeEventListener('abort', breakOff)
    connection.closeSync()
    instance.closeSync()
  }
}

function findBlocks({ table, format, before, after, range }: Comparison): string {
  const side = (files: readonly string[], sign: 1 | -1) => {
    const rows = `row_number() over () as "@row", ${sign} as "@sign", "block_number"::bigint as "@block"`
    const where = `"block_number"::bigint >= ${range.from} and "block_number"::bigint < ${range.to}`
    return `select ${rows}, ${namesOf(table)} from (${textScan(files, { table, format })}) where ${where}`
  }
  const sides = [
    ...(before.length > 0 ? [side(before, -1)] : []),
    ...(after.length > 0 ? [side(after, 1)] : []),
  ]
  const hashes = `sum(hash(${namesOf(table)})::hugeint * "@sign")`
  return `
    create view rows as ${sides.join(' union all ')};
    create table blocks as select "@block" from rows group by all having ${hashes} <> 0 or sum("@sign") <> 0;`
}

const namesOf = ({ columns }: Table) => columns.map(({ name }) => `"${name}"`).join(', ')

/** Rows of the blocks that differ, both sides, gathered by block. */
async function* readBlocks(
  connection: DuckDBConnection,
  table: Table,
): AsyncGenerator<ChangedBlock, void, void> {
  const result = await connection.stream(`
    select "@block"::varchar, "@sign", ${namesOf(table)} from rows
    where "@block" in (select "@block" from blocks) order by "@block", "@sign", "@row"`)
  let block: unknown
  let [before, after]: [string[], string[]] = [[], []]
  for await (const rows of result.yieldRowsJs()) {
    for (const [at, sign, ...cells] of rows) {
      if (at !== block && block !== undefined) {
        yield differenceOf(before, after)
        before = []
        after = []
      }
      block = at
      const side = sign === 1 ? after : before
      side.push(rowAsJson(table.columns, cells))
    }
  }
  if (block !== undefined) yield differenceOf(before, after)
}

function differenceOf(before: readonly string[], after: readonly string[]): ChangedBlock {
  return { removed: without(before, after), added: without(after, before) }
}

/** The rows but the others, each as often as it stands there. */
function without(rows: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1)
  return rows.filter((row) => {
    const count = left.get(row) ?? 0
    if (count > 0) left.set(row, count - 1)
    return count === 0
  })
}

/** Whole numbers of 32 and 64 bits and truth values as JSON has them, anything else as text, null as null. */
function rowAsJson(columns: readonly Column[], cells: readonly unknown[]): string {
  const fields = columns.map(({ name, type }, at) => {
    const text = cells[at] as string | null
    const isBare = text === null || (BARE_TYPES.has(type) && BARE.test(text))
    return `${JSON.stringify(name)}:${isBare ? text : JSON.stringify(text)}`
  })
  return `{${fields.join(',')}}`
}

const BARE_TYPES = new Set<Column['type']>(['int32', 'int64', 'bool'])
const BARE = /^(?:-?(?:0|[1-9]\d*)|true|false)$/

function incomparable({ name }: Table, cause: unknown): ExportError {
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
