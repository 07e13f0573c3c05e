import { isNft } from '../core/model/asset.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { type Balances, balances } from '../ledger/balances/balances.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { readPrices } from '../ledger/prices/prices.ts'
import { type OpenExport, openExport } from '../read/open-export.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { type Counterparty, readCounterparties, selectTrackedAssets } from './counterparties.ts'
import { collectData, type DataCollection } from './data-collection.ts'
import { createFeeFiatValue } from './fee-fiat-value.ts'
import { type FeeStats, readFees } from './fees.ts'
import { computeFiatValues, type FiatValues } from './fiat-values.ts'
import { AGGREGATED_COLUMNS, LedgerAggregates } from './ledger-aggregates.ts'
import { readLabelsFile } from './names.ts'
import { type NftIds, readNftIds } from './nft-ids.ts'
import { openRecentRows, type PackedRows } from './recent-rows.ts'

/** All that a report says of one export. */
export type LedgerStats = {
  manifest: Manifest
  aggregates: LedgerAggregates
  /** Labels of the wallets of the job by address, silent ones too. */
  labels: ReadonlyMap<string, string>
  balances: Balances
  /** The other parties with most transfers, and how many parties there are. */
  counterparties: { top: readonly Counterparty[]; count: number }
  fees: FeeStats | undefined
  nftIds: ReadonlyMap<string, NftIds>
  /** Where the user gave prices. */
  fiatValues: FiatValues | undefined
  data: DataCollection
  rows: PackedRows
}

export type LedgerStatsOptions = {
  /** CSV of what wallets had before the first row. */
  opening?: string | undefined
  /** CSV with `address` and `label`: what wallets and other parties are called. */
  names?: string | undefined
  /** CSV of prices, as conversions take it. */
  prices?: string | undefined
  /** Rows that the page holds, the newest. */
  maxRows: number
}

/**
 * Reads an export. Its ledger is read five times: for exact balances, for the tokens that moved most, for what the page shows, for token ids,
 * and for the other parties, whom only the disk has room for. Throws USAGE where there is no ledger, and what `balances` throws.
 */
export async function collectLedgerStats(
  output: string,
  { opening, names, prices: priceFile, maxRows }: LedgerStatsOptions,
): Promise<LedgerStats> {
  const balanceResult = await balances(output, { opening, all: true })
  const namedLabels = await readLabelsFile(names)
  const opened = await openExport(output)
  try {
    const { manifest } = opened
    const aggregates = new LedgerAggregates(await selectTrackedAssets(opened))
    const rows = openRecentRows(manifest, maxRows)
    const prices =
      priceFile === undefined ? undefined : await readPrices(priceFile, () => readFungibleAssets(opened))
    const fees = prices && createFeeFiatValue(prices)
    await addRows(opened, [(row) => aggregates.add(row), rows.add, ...(fees ? [fees.add] : [])])
    const labels = new Map([...namedLabels, ...walletLabels(manifest, aggregates)])
    return {
      ...{ manifest, aggregates, labels, balances: balanceResult },
      counterparties: await readCounterparties(opened),
      fees: await readFees(opened),
      nftIds: [...aggregates.assets.values()].some(isNft) ? await readNftIds(opened) : new Map(),
      fiatValues:
        prices && fees && computeFiatValues(balanceResult, aggregates, { prices, fees: fees.result() }),
      data: await collectData(output, manifest),
      rows: rows.packed(labels),
    }
  } finally {
    await opened.close()
  }
}

async function addRows(opened: OpenExport, consumers: readonly ((row: TextRow) => void)[]): Promise<void> {
  for await (const rows of opened.stream('ledger', AGGREGATED_COLUMNS))
    for (const row of rows) for (const consume of consumers) consume(row)
}

function walletLabels({ coverage }: Manifest, { wallets }: LedgerAggregates): ReadonlyMap<string, string> {
  return labelsOf(
    coverage.map(({ address, label }) => ({ address, label: label ?? wallets.get(address)?.label })),
  )
}
