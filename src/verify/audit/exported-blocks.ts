import { literal } from '../../core/platform/sql.ts'
import type { OpenedExport } from '../../read/open-export.ts'
import type { Rows } from '../../read/scratch-database.ts'
import type { ExportedTransaction } from './compare-block.ts'

type Wallet = { address: string; fromBlock: number; toBlock: number }

/** Addresses and blocks in one statement. */
const BATCH = 5_000

/** Block numbers in which the export has a native transaction from or to a wallet; at most `count`, drawn by seed. */
export async function drawExportedBlocks(
  { rows, eachFile }: OpenedExport,
  { wallets, count, seed }: { wallets: readonly Wallet[]; count: number; seed: number },
): Promise<number[]> {
  await rows.run('CREATE TABLE wallets (address VARCHAR)')
  await insert(
    rows,
    'wallets',
    wallets.map(({ address }) => literal(address)),
  )
  await rows.run('CREATE TABLE active (block BIGINT)')
  await eachFile(
    'transactions',
    (source) =>
      `INSERT INTO active SELECT DISTINCT CAST(block_number AS BIGINT) FROM ${source}
       WHERE from_address IN (SELECT address FROM wallets) OR to_address IN (SELECT address FROM wallets)`,
  )
  const drawn = await rows.all(
    `SELECT block FROM (SELECT DISTINCT block FROM active)
     ORDER BY md5(concat('${seed}-', block)), block LIMIT ${count}`,
  )
  return drawn.map(({ block }) => Number(block))
}

/** Loads the rows of these blocks, or of all where none are named, for `exportedIn`. */
export async function loadExported(
  { rows, eachFile }: OpenedExport,
  blocks?: readonly number[],
): Promise<void> {
  await rows.run('CREATE TABLE chosen (block BIGINT)')
  await insert(rows, 'chosen', (blocks ?? []).map(String))
  const number = 'CAST(block_number AS BIGINT)'
  const where = blocks === undefined ? '' : `WHERE ${number} IN (SELECT block FROM chosen)`
  // Of CSV it is text, of Parquet an instant.
  const time = 'epoch_us(CAST(block_timestamp AS TIMESTAMPTZ)) // 1000'
  const cells = `transaction_hash, transaction_index, from_address, to_address, value, block_hash, ${time}`
  await rows.run(
    `CREATE TABLE native (block BIGINT, hash VARCHAR, index VARCHAR, sender VARCHAR, receiver VARCHAR,
     value VARCHAR, block_hash VARCHAR, time_ms BIGINT)`,
  )
  await eachFile(
    'transactions',
    (source) => `INSERT INTO native SELECT ${number}, ${cells} FROM ${source} ${where}`,
  )
  await rows.run('CREATE TABLE seen (block BIGINT, hash VARCHAR, wallet VARCHAR)')
  await eachFile(
    'wallet_transactions',
    (source) => `INSERT INTO seen SELECT ${number}, transaction_hash, wallet_address FROM ${source} ${where}`,
  )
}

/** The exported transactions of the loaded blocks from `first` to `last`, by block. */
export async function exportedIn(
  output: OpenedExport,
  { first, last }: { first: number; last: number },
): Promise<Map<number, ExportedTransaction[]>> {
  const between = `WHERE block BETWEEN ${first} AND ${last}`
  const found = await output.rows.all(
    `SELECT native.*, wallets FROM (SELECT * FROM native ${between}) AS native
     LEFT JOIN (SELECT hash, string_agg(wallet, ' ') AS wallets FROM seen ${between} GROUP BY hash) USING (hash)`,
  )
  const knowsWallets = output.manifest.tables.wallet_transactions !== undefined
  const blocks = new Map<number, ExportedTransaction[]>()
  for (const row of found) {
    const block = Number(row.block)
    const rows = blocks.get(block) ?? []
    rows.push(toExported(row, knowsWallets))
    blocks.set(block, rows)
  }
  return blocks
}

function toExported(row: Record<string, unknown>, knowsWallets: boolean): ExportedTransaction {
  const { hash, index, sender, receiver, value, block_hash: blockHash, time_ms: timeMs, wallets } = row
  return {
    hash: String(hash),
    index: String(index),
    from: textOrNull(sender),
    to: textOrNull(receiver),
    value: String(value),
    blockHash: String(blockHash),
    timeMs: Number(timeMs),
    wallets: knowsWallets ? new Set(String(wallets ?? '').split(' ')) : undefined,
  }
}

function textOrNull(cell: unknown): string | null {
  return typeof cell === 'string' ? cell : null
}

async function insert(rows: Rows, table: string, values: readonly string[]): Promise<void> {
  for (let at = 0; at < values.length; at += BATCH) {
    const batch = values.slice(at, at + BATCH).map((value) => `(${value})`)
    await rows.run(`INSERT INTO ${table} VALUES ${batch.join(', ')}`)
  }
}
