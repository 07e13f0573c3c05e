import type { Manifest, ManifestFile } from '../../core/model/manifest.ts'
import { quoteIdentifier } from '../../core/platform/sql.ts'
import type { Column, Table } from '../../core/table/index.ts'
import { textColumns } from '../../formats/column-sql.ts'
import { openDataFile, sourceSql } from '../../formats/index.ts'
import { type Findings, formatValue } from '../../read/findings.ts'
import type { ScratchDatabase } from '../../read/scratch-database.ts'
import { describeCell, invalidCellSql, SQL_TYPES, typedCellSql } from './cells.ts'
import { expectNone } from './checked-export.ts'

export type TableFile = { readonly table: Table; readonly index: number; readonly file: ManifestFile }
type FileLoadContext = {
  readonly database: ScratchDatabase
  readonly manifest: Manifest
  readonly findings: Findings
}

/** Bit of the column `invalid_bits` that marks a block outside the file's range. Bit n marks an invalid cell of column n. */
const OUT_OF_RANGE_BIT = 62

/** Creates the scratch table for a table's rows, with typed columns for the cells that later checks need. */
export async function createCheckTable(database: ScratchDatabase, table: Table): Promise<void> {
  const cells = checkedColumns(table).map(
    (column) => `${quoteIdentifier(column.name)} ${SQL_TYPES[column.type]}`,
  )
  const columns = ['f INTEGER', 'r BIGINT', 'invalid_bits BIGINT', 'block_key UBIGINT', ...cells]
  await database.run(`CREATE TABLE ${table.name} (${columns.join(', ')})`)
}

/**
 * Reads every row of one file into the scratch table and checks each cell, the row count and the block range.
 *
 * @throws DuckDB's error if the file cannot be read in its format
 */
export async function loadFile(context: FileLoadContext, tableFile: TableFile): Promise<void> {
  const { database, manifest } = context
  const file = await openDataFile(
    `${database.folder}/${tableFile.file.path}`,
    manifest.job.format,
    database.scratchFolder,
  )
  try {
    await loadRows(context, tableFile, sourceSql(file, textColumns(tableFile.table.columns)))
  } finally {
    await file.close()
  }
}

async function loadRows(context: FileLoadContext, tableFile: TableFile, source: string): Promise<void> {
  const { database, manifest, findings } = context
  const { table, index, file } = tableFile
  await database.run(insertSql(tableFile, source, manifest))
  const [found] = await database.all(
    `SELECT count(*) AS n, coalesce(bit_or(invalid_bits), 0) AS bits FROM ${table.name} WHERE f = ${index}`,
  )
  const count = Number(found?.n)
  findings.expect(count === file.rows, () => `${file.path}: rows: expected ${file.rows}, found ${count}`)
  await checkCells(context, { tableFile, source, bits: BigInt(found?.bits as bigint) })
}

function insertSql({ table, index, file }: TableFile, source: string, { job }: Manifest): string {
  const block = typedCellSql(table.columns[1] as Column, job)
  const isOutOfRange = `(${block} < ${file.fromBlock} OR ${block} >= ${file.toBlock})`
  const bits = table.columns.map((column, at) => bit(invalidCellSql(column, job.format), at))
  const invalidBits = [...bits, bit(isOutOfRange, OUT_OF_RANGE_BIT)].join(' + ')
  const cells = checkedColumns(table).map((column) => typedCellSql(column, job))
  const values = [index, 'r', invalidBits, 'hash(block_hash, block_timestamp)', ...cells].join(', ')
  return `INSERT INTO ${table.name} SELECT ${values} FROM (SELECT *, row_number() OVER () AS r FROM ${source})`
}

function bit(condition: string, at: number): string {
  return `CASE WHEN ${condition} THEN ${2n ** BigInt(at)}::BIGINT ELSE 0::BIGINT END`
}

/** `bits`: the bitwise OR of `invalid_bits` over all rows of the file. */
type LoadedRows = { tableFile: TableFile; source: string; bits: bigint }

/** Reports invalid cells by row and column. Reads only the columns whose bit is set again. */
async function checkCells(context: FileLoadContext, { tableFile, source, bits }: LoadedRows): Promise<void> {
  const { table, file } = tableFile
  const expectNoBit = async (at: number, violation: Parameters<typeof expectNone>[1]) => {
    if (((bits >> BigInt(at)) & 1n) === 0n) context.findings.expect(true, String)
    else await expectNone(context, violation)
  }
  for (const [at, column] of table.columns.entries()) {
    const cells = `SELECT row_number() OVER () AS r, ${quoteIdentifier(column.name)} AS value FROM ${source}`
    await expectNoBit(at, {
      sql: `SELECT r, value FROM (${invalidRowsSql(tableFile, at)}) JOIN (${cells}) USING (r) ORDER BY r`,
      describe: ({ r, value }) => {
        return `${file.path} row ${r}: ${column.name}: expected ${describeCell(column)}, found ${formatValue(value)}`
      },
    })
  }
  await expectNoBit(OUT_OF_RANGE_BIT, {
    sql: `${invalidRowsSql(tableFile, OUT_OF_RANGE_BIT)} ORDER BY r`,
    describe: ({ r, block_number: block }) => {
      return `${file.path} row ${r}: block_number: expected ${file.fromBlock} to ${file.toBlock - 1}, found ${block}`
    },
  })
}

function invalidRowsSql({ table, index }: TableFile, at: number): string {
  const mask = `${2n ** BigInt(at)}::BIGINT`
  return `SELECT r, block_number FROM ${table.name} WHERE f = ${index} AND invalid_bits & ${mask} <> 0`
}

/** The columns that later checks use. Cells that are checked by type only (names, texts, metadata) are not loaded. */
function checkedColumns(table: Table): readonly Column[] {
  return table.columns.filter((column) => CHECKED_COLUMNS.has(column.name))
}

const CHECKED_COLUMNS: ReadonlySet<string> = new Set([
  ...['chain_id', 'block_number', 'block_timestamp', 'transaction_hash', 'transaction_index'],
  ...['log_index', 'transfer_ordinal'],
  'transfer_id',
  ...['success', 'status', 'from_address', 'to_address', 'value', 'gas_used', 'gas_price', 'transaction_fee'],
  'extra_fee',
  ...['gas_limit', 'call_type', 'method_id', 'method_name', 'transaction_type', 'effective_gas_price'],
  ...['token_address', 'token_id', 'token_decimals', 'metadata_decimals', 'amount'],
  ...['internal_id', 'internal_type', 'reverted', 'wallet_address', 'is_sender', 'is_receiver'],
  ...['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'],
  ...['entry_id', 'entry_index', 'entry_type', 'direction', 'counterparty_address', 'counterparty_is_own'],
  ...['asset_type', 'asset_address', 'asset_symbol', 'asset_decimals', 'source', 'wallet_label'],
  ...['transfer_type', 'asset_id'],
])
