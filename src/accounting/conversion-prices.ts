import { evmIdOf } from '../core/model/chains.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import type { FungibleAsset } from '../ledger/prices/priced-asset.ts'
import { type Prices, readPrices, requireChainOfEachPrice } from '../ledger/prices/prices.ts'
import type { Dataset } from '../read/dataset.ts'

/** The user's prices for the exports of a conversion, in one currency. */
export type ConversionPrices = Pick<Prices, 'currency'> & {
  /** Returns the prices of the assets of a chain. */
  ofChain(chain: string): Prices
}

/** An export, and the id of its chain. */
type PricedExport = { opened: Dataset; chain: string }

/**
 * Reads the prices of all exports from one file; undefined without a file. Throws USAGE if the file is invalid, or if the
 * exports are of several chains and a price has no chain.
 */
export async function readConversionPrices(
  sources: readonly PricedExport[],
  file: string | undefined,
): Promise<ConversionPrices | undefined> {
  if (file === undefined) return undefined
  const chains = [...new Set(sources.map(({ chain }) => chain))]
  await requireChainOfEachPrice(file, chains)
  const byChain = new Map<string, Prices>()
  for (const chain of chains) {
    const ofChain = sources.filter((source) => source.chain === chain)
    byChain.set(chain, await readPrices(file, { chain, assetsOf: () => readAssets(ofChain) }))
  }
  const [first] = byChain.values()
  if (first === undefined) return undefined
  // If the EVM id of a job's chain is unknown, its rows can state it, so that they name another chain than the job.
  const ofUnknownId = byChain.get(chains.find((chain) => evmIdOf(chain) === undefined) ?? '') ?? first
  return { currency: first.currency, ofChain: (chain) => byChain.get(chain) ?? ofUnknownId }
}

async function readAssets(sources: readonly PricedExport[]): Promise<FungibleAsset[]> {
  const assets: FungibleAsset[] = []
  for (const { opened } of sources) for (const asset of await readFungibleAssets(opened)) assets.push(asset)
  return assets
}
