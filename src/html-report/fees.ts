import { quoteLiteral } from '../core/platform/sql.ts'
import type { OpenExport } from '../read/open-export.ts'

/** Transactions sent by wallets of the job, and the fees of the failed ones. */
export type FeeStats = {
  sent: number
  failed: number
  /** Fees of the failed transactions, in the coin's smallest unit. */
  failedFees: bigint
}

/** Addresses per INSERT statement, which makes about 50 KB of SQL. */
const ADDRESSES_PER_STATEMENT = 1_000

/** Sums the transactions that the job's wallets sent; undefined if the export has no transactions table. */
export async function readFees({ eachFile, database, manifest }: OpenExport): Promise<FeeStats | undefined> {
  if (manifest.tables.transactions === undefined) return undefined
  await database.run('CREATE TABLE wallets (wallet VARCHAR)')
  const addresses = manifest.coverage.map(({ address }) => `(${quoteLiteral(address)})`)
  for (let at = 0; at < addresses.length; at += ADDRESSES_PER_STATEMENT)
    await database.run(
      `INSERT INTO wallets VALUES ${addresses.slice(at, at + ADDRESSES_PER_STATEMENT).join()}`,
    )
  await database.run('CREATE TABLE costs (failed BOOLEAN, n BIGINT, fees BIGNUM)')
  await eachFile(
    'transactions',
    (source) =>
      `INSERT INTO costs SELECT success::VARCHAR = 'false', count(*), sum(transaction_fee::BIGNUM) FROM ${source} ` +
      'WHERE from_address IN (SELECT wallet FROM wallets) GROUP BY 1',
  )
  const found = await database.all(
    'SELECT coalesce(failed, false) AS failed, sum(n)::DOUBLE AS n, sum(fees)::VARCHAR AS fees FROM costs GROUP BY 1',
  )
  const failed = found.find((row) => row.failed === true)
  return {
    sent: found.reduce((sum, { n }) => sum + Number(n), 0),
    failed: Number(failed?.n ?? 0),
    failedFees: BigInt((failed?.fees as string | null | undefined) ?? 0),
  }
}
