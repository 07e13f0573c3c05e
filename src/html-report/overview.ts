import { applyNames } from '../read/address-book.ts'
import { type Dataset, openDataset } from '../read/dataset.ts'

/** Everything that a report shows of an export without a ledger: a block job, or a wallet job without that table. */
export type Overview = {
  /** Names by address: labels of the job's wallets, and names of the user's address book. */
  labels: ReadonlyMap<string, string>
  /** undefined if the export has no transactions table. */
  transactions: TransactionTotals | undefined
}

/** Totals of the transactions table over all senders. */
type TransactionTotals = {
  count: number
  failed: number
  /** Fees of all transactions and of the failed ones, in the coin's smallest unit. */
  fees: bigint
  failedFees: bigint
  /** Times of the first and last transaction in milliseconds since 1970; undefined if there are no transactions. */
  timeRange: { first: number; last: number } | undefined
  senders: number
  /** Senders with the most transactions, in descending order. */
  busiest: Sender[]
}

type Sender = { address: string; count: number; failed: number; fees: bigint }

/** Senders listed on a page. */
const MAX_SENDERS = 50

/**
 * Reads an export without a ledger.
 *
 * @throws `USAGE` if there is no export, and everything that reading its files throws
 */
export async function collectOverview(output: string, names: string | undefined): Promise<Overview> {
  const opened = await openDataset(output)
  try {
    const { manifest, names: labels } = await applyNames(names, opened.manifest)
    const transactions = manifest.tables.transactions && (await readTransactions(opened))
    return { labels, transactions }
  } finally {
    await opened.close()
  }
}

const BLOCK_TIME_MS = 'epoch_ms(block_timestamp::VARCHAR::TIMESTAMP)'

/** Sums transactions by sender in the scratch database, which spills to disk. */
async function readTransactions({ collect, all }: Dataset): Promise<TransactionTotals> {
  await collect(
    'sent (sender VARCHAR, failed BOOLEAN, n BIGINT, fees BIGNUM, first BIGINT, last BIGINT)',
    'transactions',
    (source) =>
      `SELECT from_address, success::VARCHAR = 'false', count(*), sum(transaction_fee::BIGNUM), ` +
      `min(${BLOCK_TIME_MS}), max(${BLOCK_TIME_MS}) FROM ${source} GROUP BY ALL`,
  )
  const [totals] = await all(
    `SELECT ${TOTALS_SQL}, sum(fees) FILTER (failed)::VARCHAR AS lost, min(first)::DOUBLE AS first, ` +
      'max(last)::DOUBLE AS last, count(DISTINCT sender)::DOUBLE AS senders FROM sent',
  )
  const busiest = await all(
    `SELECT sender, ${TOTALS_SQL} FROM sent GROUP BY sender ORDER BY sum(n) DESC, sender LIMIT ${MAX_SENDERS}`,
  )
  const { first, last, senders, lost } = totals ?? {}
  return {
    ...parseTotals(totals ?? {}),
    failedFees: parseBigInt(lost),
    timeRange: typeof first === 'number' ? { first, last: Number(last) } : undefined,
    senders: Number(senders ?? 0),
    busiest: busiest.map((row) => ({ address: row.sender as string, ...parseTotals(row) })),
  }
}

const TOTALS_SQL = 'sum(n)::DOUBLE AS n, sum(n) FILTER (failed)::DOUBLE AS failed, sum(fees)::VARCHAR AS fees'

const parseTotals = ({ n, failed, fees }: Record<string, unknown>) => ({
  count: Number(n ?? 0),
  failed: Number(failed ?? 0),
  fees: parseBigInt(fees),
})

const parseBigInt = (digits: unknown): bigint => BigInt((digits as string | null | undefined) ?? 0)
