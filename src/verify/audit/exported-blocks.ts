import { fillTable } from '../../core/duckdb/fill-table.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { ExportedTransaction } from './compare-block.ts'

type Wallet = { address: string; fromBlock: number; toBlock: number }

/** Selects up to `count` blocks in which the export has a native transaction from or to a wallet, sampled by seed. */
export async function sampleExportedBlocks(
  output: Dataset,
  { wallets, count, seed }: { wallets: readonly Wallet[]; count: number; seed: number },
): Promise<number[]> {
  const { run, all, collect } = output
  await fillTable(run, 'wallets (address VARCHAR)', wallets, ({ address }) => `(${quoteLiteral(address)})`)
  await collect(
    'active (block BIGINT)',
    'transactions',
    (source) =>
      `SELECT DISTINCT CAST(block_number AS BIGINT) FROM ${source}
       WHERE from_address IN (SELECT address FROM wallets) OR to_address IN (SELECT address FROM wallets)`,
  )
  const sampled = await all(
    `SELECT block FROM (SELECT DISTINCT block FROM active)
     ORDER BY md5(concat('${seed}-', block)), block LIMIT ${count}`,
  )
  return sampled.map(({ block }) => Number(block))
}

/** Loads the rows of these blocks (default: all) for `readExportedTransactions`. */
export async function loadExportedTransactions(output: Dataset, blocks?: readonly number[]): Promise<void> {
  const { run, collect } = output
  await fillTable(run, 'chosen (block BIGINT)', blocks ?? [], (block) => `(${block})`)
  const number = 'CAST(block_number AS BIGINT)'
  const where = blocks === undefined ? '' : `WHERE ${number} IN (SELECT block FROM chosen)`
  // block_timestamp is text in CSV and a timestamp in Parquet.
  const time = 'epoch_us(CAST(block_timestamp AS TIMESTAMPTZ)) // 1000'
  const cells = `transaction_hash, transaction_index, from_address, to_address, value, block_hash, ${time}`
  await collect(
    `native (block BIGINT, hash VARCHAR, index VARCHAR, sender VARCHAR, receiver VARCHAR,
     value VARCHAR, block_hash VARCHAR, time_ms BIGINT)`,
    'transactions',
    (source) => `SELECT ${number}, ${cells} FROM ${source} ${where}`,
  )
  await collect(
    'seen (block BIGINT, hash VARCHAR, wallet VARCHAR)',
    'wallet_transactions',
    (source) => `SELECT ${number}, transaction_hash, wallet_address FROM ${source} ${where}`,
  )
}

/** Reads the loaded transactions of blocks `first` to `last` (inclusive), by block. */
export async function readExportedTransactions(
  output: Dataset,
  { first, last }: { first: number; last: number },
): Promise<Map<number, ExportedTransaction[]>> {
  const blockCondition = `WHERE block BETWEEN ${first} AND ${last}`
  const rows = await output.all(
    `SELECT native.*, wallets FROM (SELECT * FROM native ${blockCondition}) AS native
     LEFT JOIN (SELECT hash, string_agg(wallet, ' ') AS wallets FROM seen ${blockCondition} GROUP BY hash) USING (hash)`,
  )
  const hasWalletTable = output.manifest.tables.wallet_transactions !== undefined
  const blocks = new Map<number, ExportedTransaction[]>()
  for (const row of rows) {
    const block = Number(row.block)
    const rows = blocks.get(block) ?? []
    rows.push(toExported(row, hasWalletTable))
    blocks.set(block, rows)
  }
  return blocks
}

function toExported(row: Record<string, unknown>, hasWalletTable: boolean): ExportedTransaction {
  const { hash, index, sender, receiver, value, block_hash: blockHash, time_ms: timeMs, wallets } = row
  return {
    hash: String(hash),
    index: textOrNull(index),
    from: textOrNull(sender),
    to: textOrNull(receiver),
    value: textOrNull(value),
    blockHash: textOrNull(blockHash),
    timeMs: Number(timeMs),
    wallets: hasWalletTable ? new Set(String(wallets ?? '').split(' ')) : undefined,
  }
}

function textOrNull(cell: unknown): string | null {
  return typeof cell === 'string' ? cell : null
}
