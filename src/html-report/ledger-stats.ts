import { isNft } from '../core/model/asset.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import { type Prices, pricedChainOf, readPrices } from '../ledger/prices/prices.ts'
import { applyNames } from '../read/address-book.ts'
import { type Dataset, openDataset } from '../read/dataset.ts'
import { type Counterparty, readCounterparties, selectTrackedAssets } from './counterparties.ts'
import { collectData, type DataCollection } from './data-collection.ts'
import { createFeeFiatValue } from './fee-fiat-value.ts'
import { computeFiatValues, type FiatValues } from './fiat-values.ts'
import { AGGREGATED_COLUMNS, type AggregatedRow, LedgerAggregates } from './ledger-aggregates.ts'
import { type NftStats, NO_NFTS, readNftIds } from './nft-ids.ts'
import { openRecentRows, type PackedRows } from './recent-rows.ts'
import { sumYears, type YearlySums, type YearSumOptions } from './year-sums.ts'

/** Everything that a report shows of one export with a ledger. */
export type LedgerStats = {
  manifest: Manifest
  aggregates: LedgerAggregates
  /** Names by address: labels of the job's wallets, inactive ones included, and names of the user's address book. */
  labels: ReadonlyMap<string, string>
  /** Balances after the last row, and what points to spam or an incomplete history. */
  balances: YearlySums['balances']
  suspicious: YearlySums['suspicious']
  /** The statements of all years with rows, oldest first. */
  years: YearlySums['years']
  /** The counterparties with the most transfers, and the number of all counterparties. */
  counterparties: { top: readonly Counterparty[]; count: number }
  fees: FeeStats | undefined
  nfts: NftStats
  /** undefined without a price file. */
  fiatValues: FiatValues | undefined
  /** The user's prices; undefined without a price file. */
  prices: Prices | undefined
  data: DataCollection
  rows: PackedRows
}

export type LedgerStatsOptions = YearSumOptions & {
  /** Maximum number of rows on the page. The newest are included. */
  maxRows: number
}

/**
 * Reads an export with a ledger. The ledger is read once for each of: the statements
 * of all years, the assets to track, the aggregates
 * and rows, the counterparties, the NFT ids (if there are NFTs) and the priced assets (if there are prices). Counterparties
 * and NFT ids are counted in the scratch database, because memory may not hold them.
 *
 * @throws `USAGE` if the export has no ledger, and everything that `balances` throws
 */
export async function collectLedgerStats(
  output: string,
  { opening, exports, names, prices: priceFile, maxRows }: LedgerStatsOptions,
): Promise<LedgerStats> {
  const yearly = await sumYears(output, { opening, exports, names, prices: priceFile })
  const opened = await openDataset(output)
  try {
    const { manifest, names: addressNames } = await applyNames(names, opened.manifest)
    const aggregates = new LedgerAggregates(await selectTrackedAssets(opened))
    const rows = openRecentRows(manifest, maxRows)
    const prices = priceFile === undefined ? undefined : await readPrices(priceFile, pricedChainOf(opened))
    const fees = prices && createFeeFiatValue(prices)
    await addRows(opened, [(row) => aggregates.add(row), rows.add, ...(fees ? [fees.add] : [])])
    const labels = new Map([...addressNames, ...walletLabels(manifest, aggregates)])
    return {
      manifest,
      aggregates,
      labels,
      prices,
      ...yearly,
      counterparties: await readCounterparties(opened, labels),
      fees: await readFees(opened),
      nfts: [...aggregates.assets.values()].some(isNft) ? await readNftIds(opened) : NO_NFTS,
      fiatValues: prices && fees && computeFiatValues(yearly, aggregates, { prices, fees: fees.result() }),
      data: await collectData(output, manifest),
      rows: rows.packed(labels),
    }
  } finally {
    await opened.close()
  }
}

async function addRows(opened: Dataset, consumers: readonly ((row: AggregatedRow) => void)[]): Promise<void> {
  for await (const rows of opened.stream('ledger', AGGREGATED_COLUMNS))
    for (const row of rows) for (const consume of consumers) consume(row)
}

function walletLabels({ coverage }: Manifest, { wallets }: LedgerAggregates): ReadonlyMap<string, string> {
  return labelsOf(
    coverage.map(({ address, label }) => ({ address, label: label ?? wallets.get(address)?.label })),
  )
}

/** Transactions sent by wallets of the job, and the fees of the failed ones. */
type FeeStats = {
  sent: number
  failed: number
  /** Fees of the failed transactions, in the coin's smallest unit. */
  failedFees: bigint
}

/** Addresses per INSERT statement, which makes about 50 KB of SQL. */
const ADDRESSES_PER_STATEMENT = 1_000

/** Sums the transactions that the job's wallets sent; undefined if the export has no transactions table. */
async function readFees({ eachFile, run, all, manifest }: Dataset): Promise<FeeStats | undefined> {
  if (manifest.tables.transactions === undefined) return undefined
  await run('CREATE TABLE wallets (wallet VARCHAR)')
  const addresses = manifest.coverage.map(({ address }) => `(${quoteLiteral(address)})`)
  for (let at = 0; at < addresses.length; at += ADDRESSES_PER_STATEMENT)
    await run(`INSERT INTO wallets VALUES ${addresses.slice(at, at + ADDRESSES_PER_STATEMENT).join()}`)
  await run('CREATE TABLE costs (failed BOOLEAN, n BIGINT, fees BIGNUM)')
  await eachFile(
    'transactions',
    (source) =>
      `INSERT INTO costs SELECT success::VARCHAR = 'false', count(*), sum(transaction_fee::BIGNUM) FROM ${source} ` +
      'WHERE from_address IN (SELECT wallet FROM wallets) GROUP BY 1',
  )
  const found = await all(
    'SELECT coalesce(failed, false) AS failed, sum(n)::DOUBLE AS n, sum(fees)::VARCHAR AS fees FROM costs GROUP BY 1',
  )
  const failed = found.find((row) => row.failed === true)
  return {
    sent: found.reduce((sum, { n }) => sum + Number(n), 0),
    failed: Number(failed?.n ?? 0),
    failedFees: BigInt((failed?.fees as string | null | undefined) ?? 0),
  }
}
