import { isNft } from '../core/model/asset.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { pricedChainOf } from '../ledger/prices/fungible-assets.ts'
import { type Prices, readPrices } from '../ledger/prices/prices.ts'
import { applyNames } from '../read/address-book.ts'
import { type OpenExport, openExport } from '../read/open-export.ts'
import { type Counterparty, readCounterparties, selectTrackedAssets } from './counterparties.ts'
import { collectData, type DataCollection } from './data-collection.ts'
import { createFeeFiatValue } from './fee-fiat-value.ts'
import { type FeeStats, readFees } from './fees.ts'
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
  const opened = await openExport(output)
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

async function addRows(
  opened: OpenExport,
  consumers: readonly ((row: AggregatedRow) => void)[],
): Promise<void> {
  for await (const rows of opened.stream('ledger', AGGREGATED_COLUMNS))
    for (const row of rows) for (const consume of consumers) consume(row)
}

function walletLabels({ coverage }: Manifest, { wallets }: LedgerAggregates): ReadonlyMap<string, string> {
  return labelsOf(
    coverage.map(({ address, label }) => ({ address, label: label ?? wallets.get(address)?.label })),
  )
}
