import { isNft } from '../core/model/asset.ts'
import { chainIdOf } from '../core/model/chains.ts'
import type { ChainWallets } from '../ledger/balances/read-opening.ts'
import { NATIVE } from '../ledger/prices/priced-asset.ts'
import type { Dataset } from '../read/dataset.ts'
import { readConversionPrices } from './conversion-prices.ts'
import { type Outputs, withSources } from './conversion-sources.ts'
import type { Asset, Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import { type Contracts, readContracts } from './names/contracts.ts'
import { readTickers } from './names/tickers.ts'
import { readOpeningMovements } from './opening.ts'
import type { ConvertOptions } from './options.ts'
import { parsePeriod } from './period.ts'
import { readSpam, type SpamTokens } from './spam.ts'
import { transactionsOf } from './transactions.ts'
import { FORMAT_NAMES, usesIdentifiers } from './writers.ts'

/** A day on which a conversion needs a price of the native coin or an ERC-20 token. */
export type PriceNeeded = {
  /** UTC day: 2024-03-31. */
  date: string
  /** The id of the chain. */
  chain: string
  /** Contract address, or `native`. */
  asset: string
  /** The sanitized symbol; empty if the asset has none. */
  symbol: string
}

/** Options that limit the movements which need prices. */
export type NeededOptions = Pick<
  ConvertOptions,
  'from' | 'until' | 'excludeSpam' | 'tickers' | 'builtinTickers' | 'opening'
>

/**
 * Lists the prices that a conversion of exports needs and that `options.prices` does not contain, sorted by day, chain and
 * asset.
 *
 * @param outputs - the folder of the export, or the folders of several
 * @param options - the period, whether spam is excluded, and a CSV file with the prices that are known already
 * @throws ExportError with the code USAGE as `convert` does
 * @example
 * ```ts
 * const missing = await pricesNeeded('output/mine', { from: '2024-01-01', until: '2024-12-31' })
 * ```
 */
export async function pricesNeeded(
  outputs: Outputs,
  options: NeededOptions & Pick<ConvertOptions, 'prices'> = {},
): Promise<PriceNeeded[]> {
  return withSources(outputs, options, async (sources) => {
    const prices = await readConversionPrices(sources, options.prices)
    const spamOf = await readSpam(sources, options.excludeSpam)
    const exports = sources.map(({ chain, opened }) => ({ chain, coverage: opened.manifest.coverage }))
    const needed = new Map<string, PriceNeeded>()
    for (const source of sources) {
      const { chain } = source
      const known = prices?.ofChain(chain)
      for await (const { asset, time } of pricedMovements(
        { ...source, exports },
        options,
        await readPricing({ ...source, spam: spamOf(chain) }, options),
      ))
        if (known?.at(asset, time) === undefined) addNeeded(needed, { chain, asset, time })
    }
    return sortedPrices(needed)
  })
}

/**
 * `spam` are the spam tokens of the chain. @default those of this export. `exports` are all exports that a file of opening
 * balances is about. @default this one
 */
type PricedExport = {
  output: string
  opened: Dataset
  spam?: SpamTokens
  exports?: readonly ChainWallets[]
}

/** The contracts of an export, and which assets can have a price. */
type Pricing = { contracts: Contracts; isPriced: (one: { asset: Asset }) => boolean }

/** Reads which assets can have a price: coins and ERC-20 tokens that the options do not exclude as spam. */
export async function readPricing(
  { output, opened, ...known }: PricedExport,
  options: NeededOptions,
): Promise<Pricing> {
  const { job } = opened.manifest
  const tickers = await readTickers(options, { job, programs: FORMAT_NAMES, usesIdentifiers })
  const chain = chainIdOf(job.chain)
  const spam =
    known.spam ?? (await readSpam([{ output, chain, trusted: tickers }], options.excludeSpam))(chain)
  return {
    contracts: await readContracts(opened, tickers),
    isPriced: ({ asset }) => !isNft(asset) && !spam.has(asset.address ?? ''),
  }
}

/** Streams the movements that a conversion with these options contains and that can have a price. */
export async function* pricedMovements(
  {
    opened,
    exports = [{ chain: opened.manifest.job.chain, coverage: opened.manifest.coverage }],
  }: PricedExport,
  options: NeededOptions,
  { contracts, isPriced }: Pricing,
): AsyncGenerator<Movement, void, void> {
  const period = parsePeriod(options.from, options.until)
  const opening = await readOpeningMovements(options.opening, { opened, contracts, period, exports })
  yield* opening.movements.filter(isPriced)
  for await (const movements of transactionsOf(opened, { period, contracts }))
    yield* movements.filter(isPriced)
}

/** Adds the price that a movement needs, by day, chain and asset. */
export function addNeeded(
  needed: Map<string, PriceNeeded>,
  { chain, asset, time }: { chain: string; asset: Asset; time: string },
): void {
  const price = {
    date: time.slice(0, 10),
    chain,
    asset: asset.address ?? NATIVE,
    symbol: safeText(asset.symbol ?? ''),
  }
  needed.set(priceKey(price), price)
}

export const sortedPrices = (needed: ReadonlyMap<string, PriceNeeded>): PriceNeeded[] =>
  [...needed.values()].sort(comparePrices)

/** Compares by day, chain and asset. */
export const comparePrices = (a: PriceKey, b: PriceKey): number => (priceKey(a) < priceKey(b) ? -1 : 1)

type PriceKey = Pick<PriceNeeded, 'date' | 'asset'> & Partial<Pick<PriceNeeded, 'chain'>>

/** A key of the price of an asset on a day; lines of a user's file may have no chain. */
export const priceKey = ({ date, chain = '', asset }: PriceKey): string => `${date} ${chain} ${asset}`
