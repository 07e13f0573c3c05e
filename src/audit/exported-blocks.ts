import { literal } from '../core/sql.ts'
import type { ExportedTransaction } from './compare-block.ts'

/** What this room needs of an engine that reads an export; a cell is text, a number or nothing. */
export type ExportSql = {
  run(sql: string): Promise<void>
  all(sql: string): Promise<Record<string, unknown>[]>
  /** Runs a statement for each file of a table, with the source of its rows. */
  eachFile(
    table: 'transactions' | 'wallet_transactions',
    statement: (source: string) => string,
  ): Promise<void>
  /** Whether the export has the table. */
  has(table: 'transactions' | 'wallet_transactions'): boolean
}

type Wallet = { address: string; fromBlock: number; toBlock: number }

/** Addresses and blocks in one statement. */
const BATCH = 5_000

/** Block numbers in which the export has a native transaction from or to a wallet; at most `count`, drawn by seed. */
export async function drawExportedBlocks(
  sql: ExportSql,
  { wallets, count, seed }: { wallets: readonly Wallet[]; count: number; seed: number },
): Promise<number[]> {
  await sql.run('CREATE TABLE wallets (address VARCHAR)')
  await insert(
    sql,
    'wallets',
    wallets.map(({ address }) => literal(address)),
  )
  await sql.run('CREATE TABLE active (block BIGINT)')
  await sql.eachFile(
    'transactions',
    (source) =>
      `INSERT INTO active SELECT DISTINCT CAST(block_number AS BIGINT) FROM ${source}
       WHERE from_address IN (SELECT address FROM wallets) OR to_address IN (SELECT address FROM wallets)`,
  )
  const drawn = await sql.all(
    `SELECT block FROM (SELECT DISTINCT block FROM active)
     ORDER BY md5(concat('${seed}-', block)), block LIMIT ${count}`,
  )
  return drawn.map(({ block }) => Number(block))
}

/** Loads the rows of these blocks, or of all where none are named, for `exportedIn`. */
export async function loadExported(sql: ExportSql, blocks?: readonly number[]): Promise<void> {
  await sql.run('CREATE TABLE chosen (block BIGINT)')
  await insert(sql, 'chosen', (blocks ?? []).map(String))
  const number = 'CAST(block_number AS BIGINT)'
  const where = blocks === undefined ? '' : `WHERE ${number} IN (SELECT block FROM chosen)`
  const cells = 'transaction_hash, transaction_index, from_address, to_address, value, block_hash'
  await sql.run(
    `CREATE TABLE native (block BIGINT, hash VARCHAR, index VARCHAR, sender VARCHAR, receiver VARCHAR,
     value VARCHAR, block_hash VARCHAR)`,
  )
  await sql.eachFile(
    'transactions',
    (source) => `INSERT INTO native SELECT ${number}, ${cells} FROM ${source} ${where}`,
  )
  await sql.run('CREATE TABLE seen (block BIGINT, hash VARCHAR, wallet VARCHAR)')
  await sql.eachFile(
    'wallet_transactions',
    (source) => `INSERT INTO seen SELECT ${number}, transaction_hash, wallet_address FROM ${source} ${where}`,
  )
}

/** The exported transactions of the loaded blocks from `first` to `last`, by block. */
export async function exportedIn(
  sql: ExportSql,
  { first, last }: { first: number; last: number },
): Promise<Map<number, ExportedTransaction[]>> {
  const between = `WHERE block BETWEEN ${first} AND ${last}`
  const found = await sql.all(
    `SELECT native.*, wallets FROM (SELECT * FROM native ${between}) AS native
     LEFT JOIN (SELECT hash, string_agg(wallet, ' ') AS wallets FROM seen ${between} GROUP BY hash) USING (hash)`,
  )
  const blocks = new Map<number, ExportedTransaction[]>()
  for (const row of found) {
    const block = Number(row.block)
    const rows = blocks.get(block) ?? []
    rows.push(toExported(row, sql.has('wallet_transactions')))
    blocks.set(block, rows)
  }
  return blocks
}

function toExported(row: Record<string, unknown>, knowsWallets: boolean): ExportedTransaction {
  const { hash, index, sender, receiver, value, block_hash: blockHash, wallets } = row
  return {
    hash: String(hash),
    index: String(index),
    from: textOrNull(sender),
    to: textOrNull(receiver),
    value: String(value),
    blockHash: String(blockHash),
    wallets: knowsWallets ? new Set(String(wallets ?? '').split(' ')) : undefined,
  }
}

function textOrNull(cell: unknown): string | null {
  return typeof cell === 'string' ? cell : null
}

async function insert(sql: ExportSql, table: string, values: readonly string[]): Promise<void> {
  for (let at = 0; at < values.length; at += BATCH) {
    const batch = values.slice(at, at + BATCH).map((value) => `(${value})`)
    await sql.run(`INSERT INTO ${table} VALUES ${batch.join(', ')}`)
  }
}
