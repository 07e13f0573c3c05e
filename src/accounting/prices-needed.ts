import { isNft } from '../core/model/asset.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { NATIVE, readPrices } from '../ledger/prices/prices.ts'
import { openExport, requireLedger } from '../read/open-export.ts'
import { safeText } from './names/asset-name.ts'
import { readContracts } from './names/contracts.ts'
import type { ConvertOptions } from './options.ts'
import { parsePeriod } from './period.ts'
import { transactionsOf } from './transactions.ts'

/** A day and an asset, the coin or an ERC-20 token, that conversions have no price for. */
export type PriceNeeded = {
  /** Of UTC. */
  date: string
  /** A contract, or `native`. */
  asset: string
  /** Without what hides or turns text; empty where there is none. */
  symbol: string
}

/**
 * Lists the prices that conversions of an export would use and `prices` does not have, by day and asset. Throws USAGE as
 * `convert` does.
 */
export async function pricesNeeded(
  output: string,
  options: Pick<ConvertOptions, 'from' | 'until' | 'prices'> = {},
): Promise<PriceNeeded[]> {
  const period = parsePeriod(options.from, options.until)
  const opened = await openExport(output)
  try {
    requireLedger(opened.manifest, output, 'conversions are made of')
    const prices =
      options.prices === undefined
        ? undefined
        : await readPrices(options.prices, () => readFungibleAssets(opened))
    const contracts = await readContracts(opened)
    const needed = new Map<string, PriceNeeded>()
    for await (const movements of transactionsOf(opened, { period, contracts })) {
      for (const { asset, time } of movements) {
        if (isNft(asset) || prices?.at(asset, time) !== undefined) continue
        const one = {
          date: time.slice(0, 10),
          asset: asset.address ?? NATIVE,
          symbol: safeText(asset.symbol ?? ''),
        }
        needed.set(`${one.date} ${one.asset}`, one)
      }
    }
    return [...needed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  } finally {
    await opened.close()
  }
}
