import { openDataFile } from '../../core/duckdb/data-file.ts'
import { sourceSql, textColumns } from '../../core/duckdb/source-sql.ts'
import type { Manifest, ManifestFile } from '../../core/model/manifest.ts'
import { named } from '../../core/platform/sql.ts'
import type { Column, Table } from '../../core/table/index.ts'
import { type Findings, shown } from '../../read/findings.ts'
import type { Rows } from '../../read/scratch-database.ts'
import { brokenCellSql, describeCell, SQL_TYPES, typedCellSql } from './cells.ts'
import { expectNone } from './checked-export.ts'

export type FilePlace = { readonly table: Table; readonly index: number; readonly file: ManifestFile }
type Reading = { readonly rows: Rows; readonly manifest: Manifest; readonly findings: Findings }

/** Bit of a row's `broken` that says that its block lies outside its file's range. */
const OUTSIDE = 62

/** Makes the scratch table for a table's rows: what later checks need of them, typed, in file order. */
export async function createScratch(rows: Rows, table: Table): Promise<void> {
  const cells = keptOf(table).map((column) => `${named(column.name)} ${SQL_TYPES[column.type]}`)
  const columns = ['f INTEGER', 'r BIGINT', 'broken BIGINT', 'place UBIGINT', ...cells]
  await rows.run(`CREATE TABLE ${table.name} (${columns.join(', ')})`)
}

/**
 * Reads every row of one file into the scratch table, checking each cell, the row count and the block range.
 * Throws the engine's error where the file cannot be read as what it says it is.
 */
export async function loadFile(reading: Reading, place: FilePlace): Promise<void> {
  const { rows, manifest } = reading
  const file = await openDataFile(`${rows.folder}/${place.file.path}`, manifest.job.format, rows.scratch)
  try {
    await loadRows(reading, place, sourceSql(file, textColumns(place.table.columns)))
  } finally {
    await file.close()
  }
}

async function loadRows(reading: Reading, place: FilePlace, source: string): Promise<void> {
  const { rows, manifest, findings } = reading
  const { table, index, file } = place
  await rows.run(insertSql(place, source, manifest))
  const [found] = await rows.all(
    `SELECT count(*) AS n, coalesce(bit_or(broken), 0) AS bits FROM ${table.name} WHERE f = ${index}`,
  )
  const count = Number(found?.n)
  findings.expect(count === file.rows, () => `${file.path}: rows: expected ${file.rows}, found ${count}`)
  await checkCells(reading, { place, source, bits: BigInt(found?.bits as bigint) })
}

function insertSql({ table, index, file }: FilePlace, source: string, { job }: Manifest): string {
  const block = typedCellSql(table.columns[1] as Column, job.format)
  const outside = `(${block} < ${file.fromBlock} OR ${block} >= ${file.toBlock})`
  const bits = table.columns.map((column, at) => bit(brokenCellSql(column, job.format), at))
  const broken = [...bits, bit(outside, OUTSIDE)].join(' + ')
  const cells = keptOf(table).map((column) => typedCellSql(column, job.format))
  const values = [index, 'r', broken, 'hash(block_hash, block_timestamp)', ...cells].join(', ')
  return `INSERT INTO ${table.name} SELECT ${values} FROM (SELECT *, row_number() OVER () AS r FROM ${source})`
}

function bit(condition: string, at: number): string {
  return `CASE WHEN ${condition} THEN ${2n ** BigInt(at)}::BIGINT ELSE 0::BIGINT END`
}

/** `bits`: what is wrong in any row of the file. */
type Loaded = { place: FilePlace; source: string; bits: bigint }

/** Tells wrong cells by row and column; columns without any cost nothing more. */
async function checkCells(reading: Reading, { place, source, bits }: Loaded): Promise<void> {
  const { table, file } = place
  const expectNoBit = async (at: number, violation: Parameters<typeof expectNone>[1]) => {
    if (((bits >> BigInt(at)) & 1n) === 0n) reading.findings.expect(true, String)
    else await expectNone(reading, violation)
  }
  for (const [at, column] of table.columns.entries()) {
    const cells = `SELECT row_number() OVER () AS r, ${named(column.name)} AS value FROM ${source}`
    await expectNoBit(at, {
      sql: `SELECT r, value FROM (${brokenRows(place, at)}) JOIN (${cells}) USING (r) ORDER BY r`,
      tell: ({ r, value }) => {
        return `${file.path} row ${r}: ${column.name}: expected ${describeCell(column)}, found ${shown(value)}`
      },
    })
  }
  await expectNoBit(OUTSIDE, {
    sql: `${brokenRows(place, OUTSIDE)} ORDER BY r`,
    tell: ({ r, block_number: block }) => {
      return `${file.path} row ${r}: block_number: expected ${file.fromBlock} to ${file.toBlock - 1}, found ${block}`
    },
  })
}

function brokenRows({ table, index }: FilePlace, at: number): string {
  const mask = `${2n ** BigInt(at)}::BIGINT`
  return `SELECT r, block_number FROM ${table.name} WHERE f = ${index} AND broken & ${mask} <> 0`
}

/** Cells that only have to be of their type (names, texts, metadata) are not kept. */
function keptOf(table: Table): readonly Column[] {
  return table.columns.filter((column) => KEPT.has(column.name))
}

const KEPT: ReadonlySet<string> = new Set([
  ...['chain_id', 'block_number', 'transaction_hash', 'transaction_index', 'log_index', 'transfer_ordinal'],
  ...['success', 'status', 'from_address', 'to_address', 'value', 'gas_used', 'gas_price', 'transaction_fee'],
  ...['gas_limit', 'call_type'],
  ...['token_address', 'token_id', 'token_decimals', 'metadata_decimals', 'amount'],
  ...['internal_id', 'internal_type', 'reverted', 'wallet_address', 'is_sender', 'is_receiver'],
  ...['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'],
  ...['entry_id', 'entry_index', 'entry_type', 'direction', 'counterparty_address', 'counterparty_is_own'],
  ...['asset_type', 'asset_address', 'asset_symbol', 'asset_decimals', 'source', 'wallet_label'],
])
