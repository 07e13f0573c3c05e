import { isNft } from '../core/model/asset.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { type Balances, balances } from '../ledger/balances/balances.ts'
import { fungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { readPrices } from '../ledger/prices/prices.ts'
import { type OpenedExport, openExport } from '../read/open-export.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { followedAssets, type Party, readParties } from './counterparties.ts'
import { type Reading, readReading } from './data-collection.ts'
import { openFeeWorth } from './fee-fiat-value.ts'
import { type FeeFigures, readFees } from './fees.ts'
import { type Worths, worthsOf } from './fiat-values.ts'
import { TALLIED_COLUMNS, Tally } from './ledger-aggregates.ts'
import { readNames } from './names.ts'
import { type NftIds, readNftIds } from './nft-ids.ts'
import { openRecentRows, type PackedRows } from './recent-rows.ts'

/** All that a report says of one export. */
export type Figures = {
  manifest: Manifest
  tally: Tally
  /** Labels of the wallets of the job by address, silent ones too. */
  labels: ReadonlyMap<string, string>
  balances: Balances
  /** The other parties with most transfers, and how many parties there are. */
  parties: { most: readonly Party[]; count: number }
  fees: FeeFigures | undefined
  nftIds: ReadonlyMap<string, NftIds>
  /** Where the user gave prices. */
  worths: Worths | undefined
  reading: Reading
  rows: PackedRows
}

export type FigureOptions = {
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
export async function figuresOf(
  output: string,
  { opening, names, prices: priceFile, maxRows }: FigureOptions,
): Promise<Figures> {
  const sums = await balances(output, { opening, all: true })
  const given = await readNames(names)
  const opened = await openExport(output)
  try {
    const { manifest } = opened
    const tally = new Tally(await followedAssets(opened))
    const rows = openRecentRows(manifest, maxRows)
    const prices =
      priceFile === undefined ? undefined : await readPrices(priceFile, () => fungibleAssets(opened))
    const fees = prices && openFeeWorth(prices)
    await addRows(opened, [(row) => tally.add(row), rows.add, ...(fees ? [fees.add] : [])])
    const labels = new Map([...given, ...namesOf(manifest, tally)])
    return {
      ...{ manifest, tally, labels, balances: sums },
      parties: await readParties(opened),
      fees: await readFees(opened),
      nftIds: [...tally.assets.values()].some(isNft) ? await readNftIds(opened) : new Map(),
      worths: prices && fees && worthsOf(sums, tally, { prices, fees: fees.worth() }),
      reading: await readReading(output, manifest),
      rows: rows.packed(labels),
    }
  } finally {
    await opened.close()
  }
}

async function addRows(opened: OpenedExport, takers: readonly ((row: TextRow) => void)[]): Promise<void> {
  for await (const rows of opened.stream('ledger', TALLIED_COLUMNS))
    for (const row of rows) for (const take of takers) take(row)
}

function namesOf({ coverage }: Manifest, { wallets }: Tally): ReadonlyMap<string, string> {
  return labelsOf(
    coverage.map(({ address, label }) => ({ address, label: label ?? wallets.get(address)?.label })),
  )
}
