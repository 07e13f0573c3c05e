import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Table } from '../core/table/index.ts'
import type { Dialect } from './ddl/dialects.ts'
import {
  columnList,
  createSchema,
  createTable,
  keyList,
  type NamedTable,
  sameKey,
  type TableNamespace,
  tableIdentifier,
} from './ddl/tables.ts'
import type { LocalFile } from './reader.ts'
import { LOADS_TABLE, type LoadRecord, parseLoadRecord, recordCells } from './records.ts'

/** Block ranges of the rows with one of these chain ids; no rows if there are no ranges. */
export type TableBlocks = { readonly chainIds: readonly string[]; readonly ranges: readonly BlockRange[] }

/** A database that rows are loaded into. All methods throw ExportErrors, whose messages contain no passwords. */
export type LoadTarget = {
  /** How many transactions a load may use; with `none`, each change is visible at once and `rollback` does nothing. */
  readonly transactions: 'many' | 'one' | 'none'
  begin(): Promise<void>
  /** Creates missing schemas, tables and columns. Throws LOAD_FAILED if a table has incompatible columns. */
  prepare(tables: readonly Table[]): Promise<void>
  records(): Promise<LoadRecord[]>
  isEmpty(table: Table): Promise<boolean>
  /** Creates an empty stage for rows of this table. There is one stage at a time. */
  createStage(table: Table): Promise<void>
  /**
   * Inserts the file's rows into its stage, or into its table if that has no row with the same key. Resolves with the
   * number of rows in the file.
   */
  insert(file: LocalFile, into: 'stage' | 'table'): Promise<number>
  /** Returns the key of a staged row that the table has in one of these blocks; undefined if there is none. */
  findDuplicate(table: Table, blocks: TableBlocks): Promise<readonly string[] | undefined>
  /**
   * Inserts staged rows that the table lacks, updates rows that differ from the staged row with their key, deletes rows
   * of the blocks that are not staged, and drops the stage. Touches neither other rows nor columns of users.
   */
  merge(table: Table, removed: TableBlocks): Promise<void>
  saveRecord(record: LoadRecord): Promise<void>
  deleteRecords(records: readonly LoadRecord[]): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  close(): Promise<void>
}

/** What each database does in its own way. All methods throw ExportErrors, whose messages contain no passwords. */
export type Engine = Pick<LoadTarget, 'transactions' | 'commit' | 'rollback' | 'close'> & {
  readonly dialect: Dialect
  /** Runs a statement and resolves with its rows. */
  query(statement: string): Promise<readonly Row[]>
  /** SQL for the columns of a table: `name`, `type` and whether it is `filled`, without nulls; no rows if there is no table. */
  columnsSql(table: TableName): string
  /** Inserts a file's rows. Resolves with their number. */
  insert(file: LocalFile, into: string): Promise<number>
  /** Inserts one row. @default an INSERT of literals */
  insertRow?(table: string, row: Readonly<Record<string, string | number>>): Promise<void>
  /** Excludes other loads. @default nothing */
  lock?(namespace: TableNamespace): Promise<void>
  /** Checks an existing table further. @default nothing */
  checkTable?(table: NamedTable, identifier: string): Promise<void>
}

type Row = Readonly<Record<string, unknown>>
/** A table's name as it is, for catalogs, and quoted. */
type TableName = { readonly schema: string | undefined; readonly name: string; readonly identifier: string }

/** Name of the table that files are inserted into before they are merged. */
export const STAGE = 'walletlake_stage'

/** Makes the target of an engine: keeps records of loads, and merges staged rows by their keys. */
export function createTarget(engine: Engine, namespace: TableNamespace, defaultSchema?: string): LoadTarget {
  const { dialect, query, transactions } = engine
  const names = { ...namespace, schema: namespace.schema ?? defaultSchema }
  const identifier = (table: string) => tableIdentifier(table, dialect, names)
  const loads = identifier(LOADS_TABLE.name)
  const hasTransactions = transactions !== 'none'
  const deleteLoads = async (records: readonly LoadRecord[], anyContent = false) => {
    for (const { outputId, table, path, sha256 } of records) {
      const cells = { output_id: outputId, table_name: table, path, ...(anyContent ? {} : { sha256 }) }
      const where = Object.entries(cells).map(([name, cell]) => `${name} = ${dialect.literal(cell)}`)
      await query(`DELETE FROM ${loads} WHERE ${where.join(' AND ')}`)
    }
  }
  const insertRow = engine.insertRow ?? insertLiterals(engine)
  return {
    transactions,
    commit: engine.commit,
    rollback: engine.rollback,
    close: engine.close,
    begin: async () => void (hasTransactions && (await query('BEGIN'))),
    prepare: async (tables) => {
      await engine.lock?.(names)
      for (const statement of createSchema(dialect, namespace.schema)) await query(statement)
      for (const table of [...tables, LOADS_TABLE]) await prepareTable(table, engine, names)
    },
    records: async () =>
      (await query(`SELECT * FROM ${loads}${hasTransactions ? '' : ' FINAL'}`)).map(parseLoadRecord),
    saveRecord: async (record) => {
      // Without transactions, the row replaces an earlier one when it is merged with it.
      if (hasTransactions) await deleteLoads([record], true)
      const cells = recordCells(record)
      const row = LOADS_TABLE.columns.map(({ name }, at) => [name, cells[at] ?? ''] as const)
      await insertRow(loads, Object.fromEntries(row))
    },
    deleteRecords: (records) => deleteLoads(records),
    isEmpty: async ({ name }) => (await query(`SELECT 1 FROM ${identifier(name)} LIMIT 1`)).length === 0,
    ...(hasTransactions ? stagedMerge(engine, identifier) : replacingMerge(engine, identifier)),
  }
}

const insertLiterals =
  ({ dialect, query }: Engine): NonNullable<Engine['insertRow']> =>
  async (table, row) => {
    const names = Object.keys(row).map(dialect.quote)
    const cells = Object.values(row).map((cell) => (typeof cell === 'number' ? cell : dialect.literal(cell)))
    await query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${cells.join(', ')})`)
  }

type Merge = Pick<LoadTarget, 'createStage' | 'insert' | 'findDuplicate' | 'merge'>
type Identifier = (table: string) => string

/**
 * The stage and its merge in engines with transactions, temporary tables, UPDATE FROM and IS DISTINCT FROM. Nothing relies
 * on a unique index. The statements compare before they write, so that rows that do not differ are neither locked nor
 * seen by triggers.
 */
function stagedMerge({ dialect, query, insert }: Engine, identifier: Identifier): Merge {
  const { quote } = dialect
  const isSameKey = (table: Table) => sameKey(table, dialect, ['t', 's'])
  const isDistinct = (column: string) => `t.${quote(column)} IS DISTINCT FROM s.${quote(column)}`
  return {
    createStage: async (table) => {
      const rows = `SELECT ${columnList(table, dialect)} FROM ${identifier(table.name)} WHERE 1 = 0`
      await query(`CREATE TEMPORARY TABLE ${STAGE} AS ${rows}`)
    },
    insert: (file, into) => insert(file, into === 'stage' ? STAGE : identifier(file.table.name)),
    findDuplicate: async (table, blocks) => {
      const keys = table.key.map((column) => `CAST(t.${quote(column)} AS text) AS ${quote(column)}`)
      const from = `${identifier(table.name)} AS t JOIN ${STAGE} AS s ON ${isSameKey(table)}`
      const [row] = await query(
        `SELECT ${keys.join(', ')} FROM ${from} WHERE ${isWithin(blocks, dialect, 't.')} LIMIT 1`,
      )
      return row && table.key.map((column) => String(row[column]))
    },
    merge: async (table, removed) => {
      const name = identifier(table.name)
      const key = isSameKey(table)
      const columns = columnList(table, dialect)
      const counts = table.columns.map(
        (column) => `sum(CASE WHEN ${isDistinct(column.name)} THEN 1 ELSE 0 END) AS ${quote(column.name)}`,
      )
      const [differences] = await query(
        `SELECT ${counts.join(', ')} FROM ${name} AS t JOIN ${STAGE} AS s ON ${key}`,
      )
      // Other columns are not set: DuckDB cannot set an indexed column of a row that a foreign key references.
      const changed = table.columns
        .map((column) => column.name)
        .filter((column) => Number(differences?.[column]) > 0)
      const set = changed.map((column) => `${quote(column)} = s.${quote(column)}`).join(', ')
      await query(
        `DELETE FROM ${name} AS t WHERE ${isWithin(removed, dialect, 't.')} AND NOT EXISTS (SELECT 1 FROM ${STAGE} AS s WHERE ${key})`,
      )
      if (changed.length > 0)
        await query(
          `UPDATE ${name} AS t SET ${set} FROM ${STAGE} AS s WHERE ${key} AND (${changed.map(isDistinct).join(' OR ')})`,
        )
      await query(
        `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${STAGE} AS s WHERE NOT EXISTS (SELECT 1 FROM ${name} AS t WHERE ${key})`,
      )
      await query(`DROP TABLE ${STAGE}`)
    },
  }
}

/**
 * The same in an engine that replaces rows by later ones with the same key, and has no transactions. Temporary tables belong
 * to a session, which a load balancer may not keep, so the stage is an ordinary table.
 */
function replacingMerge({ dialect, query, insert }: Engine, identifier: Identifier): Merge {
  const stage = identifier(STAGE)
  const stagedKeys = (table: Table) => `(SELECT ${keyList(table, dialect)} FROM ${stage})`
  return {
    createStage: async (table) => {
      await query(`DROP TABLE IF EXISTS ${stage}`)
      const rows = `SELECT ${columnList(table, dialect)} FROM ${identifier(table.name)} WHERE 1 = 0`
      await query(`CREATE TABLE ${stage} ENGINE = MergeTree ORDER BY tuple() AS ${rows}`)
    },
    insert: (file, into) => insert(file, into === 'stage' ? stage : identifier(file.table.name)),
    findDuplicate: async (table, blocks) => {
      if (blocks.ranges.length === 0) return undefined
      const key = keyList(table, dialect)
      const where = `${isWithin(blocks, dialect)} AND (${key}) IN ${stagedKeys(table)}`
      const [row] = await query(`SELECT ${key} FROM ${identifier(table.name)} FINAL WHERE ${where} LIMIT 1`)
      return row && table.key.map((column) => String(row[column]))
    },
    merge: async (table, removed) => {
      const [name, columns] = [identifier(table.name), columnList(table, dialect)]
      const [key, staged] = [`(${keyList(table, dialect)})`, stagedKeys(table)]
      const unchanged = `SELECT ${columns} FROM ${name} FINAL WHERE ${key} IN ${staged}`
      await query(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${stage} EXCEPT ${unchanged}`)
      if (removed.ranges.length > 0)
        await query(`DELETE FROM ${name} WHERE ${isWithin(removed, dialect)} AND ${key} NOT IN ${staged}`)
      await query(`DROP TABLE ${stage}`)
    },
  }
}

/** SQL condition that a row, named by a prefix such as `t.`, belongs to one of these chains and blocks. */
function isWithin({ chainIds, ranges }: TableBlocks, { literal }: Dialect, row = ''): string {
  if (ranges.length === 0) return '1 = 0'
  const block = `${row}block_number`
  const isInRange = ranges.map(({ from, to }) => `(${block} >= ${from} AND ${block} < ${to})`).join(' OR ')
  return `${row}chain_id IN (${chainIds.map(literal).join(', ')}) AND (${isInRange})`
}

/**
 * Creates a table, or makes its columns those of this version. Columns that users added are ignored. Missing ones are added
 * as nullable, because existing rows have no values for them; columns become nullable whose values later versions do not
 * always have.
 *
 * @throws ExportError LOAD_FAILED if a column has another type, or rejects nulls in an engine that cannot change that, or
 * a key column is missing
 */
async function prepareTable(table: NamedTable, engine: Engine, names: TableNamespace): Promise<void> {
  const { dialect, query } = engine
  const { quote, declare } = dialect
  const name = tableIdentifier(table.name, dialect, names)
  const { schema, prefix = '' } = names
  const existing = await query(engine.columnsSql({ schema, name: prefix + table.name, identifier: name }))
  if (existing.length === 0) {
    for (const statement of createTable(table, dialect, names)) await query(statement)
    return
  }
  const statements: string[] = []
  const retyped: string[] = []
  for (const column of table.columns) {
    const present = existing.find((row) => row.name === column.name)
    const nullable = declare({ ...column, nullable: true })
    if (present === undefined) {
      if (table.key.includes(column.name))
        throw columnConflict(name, `the key column ${column.name} is missing`)
      statements.push(`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)} ${nullable}`)
      continue
    }
    const type = dialect.retype?.(column, String(present.type))
    if (type !== undefined)
      retyped.push(`ALTER TABLE ${name} ALTER COLUMN ${quote(column.name)} TYPE ${type}`)
    const declared = `${type ?? present.type}${present.filled ? ' NOT NULL' : ''}`
    const isDeclared = (expected: string) => normalizeType(declared) === normalizeType(expected)
    if (isDeclared(declare(column)) || isDeclared(nullable)) continue
    if (!isDeclared(declare({ ...column, nullable: false })) || dialect.dropNotNull === undefined)
      throw columnConflict(name, `the column ${column.name} is ${declared}, expected ${declare(column)}`)
    statements.push(dialect.dropNotNull(name, quote(column.name)))
  }
  for (const statement of [...statements, ...retyped]) await query(statement)
  await engine.checkTable?.(table, name)
}

const normalizeType = (declared: string) => declared.toLowerCase().replaceAll(' ', '')

function columnConflict(name: string, reason: string): ExportError {
  return new ExportError('LOAD_FAILED', `the table ${name} is incompatible: ${reason}`, {
    fix: 'Rename or drop that table and load all its outputs again: files whose rows are gone are loaded anew. Or load into other tables with --schema or --prefix.',
  })
}
