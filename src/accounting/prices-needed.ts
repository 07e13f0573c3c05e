import { isNft } from '../core/model/asset.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { NATIVE, readPrices } from '../ledger/prices/prices.ts'
import { openExport, requireLedger } from '../read/open-export.ts'
import { safeText } from './names/asset-name.ts'
import { readContracts } from './names/contracts.ts'
import type { ConvertOptions } from './options.ts'
import { parsePeriod } from './period.ts'
import { transactionsOf } from './transactions.ts'

/** A day on which a conversion needs a price of the native coin or an ERC-20 token. */
export type PriceNeeded = {
  /** UTC day: 2024-03-31. */
  date: string
  /** Contract address, or `native`. */
  asset: string
  /** The sanitized symbol; empty if the asset has none. */
  symbol: string
}

/**
 * Lists the prices that a conversion of an export needs and that `options.prices` does not contain, sorted by day and asset.
 *
 * @param output - the folder of the export
 * @param options - the period, and a CSV file with the prices that are known already
 * @throws ExportError with the code USAGE as `convert` does
 * @example
 * ```ts
 * const missing = await pricesNeeded('output/mine', { from: '2024-01-01', until: '2024-12-31' })
 * ```
 */
export async function pricesNeeded(
  output: string,
  options: Pick<ConvertOptions, 'from' | 'until' | 'prices'> = {},
): Promise<PriceNeeded[]> {
  const period = parsePeriod(options.from, options.until)
  const opened = await openExport(output)
  try {
    requireLedger(opened.manifest, output, 'conversions are made from')
    const prices =
      options.prices === undefined
        ? undefined
        : await readPrices(options.prices, () => readFungibleAssets(opened))
    const contracts = await readContracts(opened)
    const needed = new Map<string, PriceNeeded>()
    for await (const movements of transactionsOf(opened, { period, contracts })) {
      for (const { asset, time } of movements) {
        if (isNft(asset) || prices?.at(asset, time) !== undefined) continue
        const price = {
          date: time.slice(0, 10),
          asset: asset.address ?? NATIVE,
          symbol: safeText(asset.symbol ?? ''),
        }
        needed.set(`${price.date} ${price.asset}`, price)
      }
    }
    return [...needed.values()].sort(comparePrices)
  } finally {
    await opened.close()
  }
}

/** Compares by day and asset. */
export function comparePrices(a: PriceNeeded, b: PriceNeeded): number {
  return `${a.date} ${a.asset}` < `${b.date} ${b.asset}` ? -1 : 1
}
