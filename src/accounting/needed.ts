import { isNft } from '../core/model/asset.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import { NATIVE } from '../ledger/prices/prices.ts'
import type { Asset, Movement } from './movement.ts'
import { safeText } from './names/names.ts'
import { type ConvertOptions, parsePeriod } from './options.ts'
import {
  type ConversionSource,
  type Outputs,
  readConversionPrices,
  selectorOf,
  withSources,
} from './sources.ts'
import { readOpeningMovements, transactionsOf } from './transactions.ts'

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
  'from' | 'until' | 'excludeSpam' | 'tickers' | 'builtinTickers' | 'opening' | 'adjustments'
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
  options: NeededOptions & Pick<ConvertOptions, 'prices' | 'wallets'> = {},
): Promise<PriceNeeded[]> {
  return withSources(outputs, options, async (sources) => {
    const isSelected = selectorOf(sources, options.wallets)
    const prices = await readConversionPrices(sources, options.prices)
    const needed = new Map<string, PriceNeeded>()
    for (const source of sources) {
      const { chain } = source
      const given = prices?.ofChain(chain)
      for await (const movement of pricedMovements(source, options)) {
        const { asset, time } = movement
        if (isSelected(movement) && given?.at(asset, time) === undefined)
          addNeeded(needed, { chain, asset, time })
      }
    }
    return sortedPrices(needed)
  })
}

/** Whether an asset can have a price: coins and ERC-20 tokens that are not excluded as spam. */
export const canBePriced = ({ spam }: ConversionSource, asset: Asset): boolean =>
  !isNft(asset) && !spam.has(asset.address ?? '')

/** Streams the movements that a conversion with these options contains and that can have a price. */
export async function* pricedMovements(
  source: ConversionSource,
  options: NeededOptions,
): AsyncGenerator<Movement, void, void> {
  const period = parsePeriod(options.from, options.until)
  const opening = await readOpeningMovements(options.opening, source, period)
  yield* opening.movements.filter(({ asset }) => canBePriced(source, asset))
  for await (const movements of transactionsOf(source, period))
    yield* movements.filter(({ asset }) => canBePriced(source, asset))
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

/** A token that conversions name by its symbol and digits of its contract, because it has no ticker. */
export type TickerNeeded = {
  /** Chain id. */
  chain: string
  contract: string
  /** The sanitized symbol; empty if the token has none. */
  symbol: string
  /** Number of movements. */
  movements: number
  /** Everything received and sent, in whole units; null if the decimals are unknown. */
  volume: string | null
}

/**
 * Lists the ERC-20 tokens of exports that have no ticker, those with the most movements first.
 *
 * @param outputs - the folder of the export, or the folders of several
 * @param options - the period, the tickers that are known already, and whether spam is excluded
 * @throws ExportError with the code USAGE as `convert` does
 * @example
 * ```ts
 * const missing = await tickersNeeded('output/mine', { excludeSpam: true })
 * ```
 */
export async function tickersNeeded(
  outputs: Outputs,
  options: Pick<
    ConvertOptions,
    'from' | 'until' | 'tickers' | 'builtinTickers' | 'excludeSpam' | 'wallets'
  > = {},
): Promise<TickerNeeded[]> {
  const period = parsePeriod(options.from, options.until)
  return withSources(outputs, options, async (sources) => {
    const totals = new Map<string, Total>()
    const isSelected = selectorOf(sources, options.wallets)
    for (const source of sources)
      for await (const movements of transactionsOf(source, period))
        for (const movement of movements)
          if (isSelected(movement) && !source.spam.has(movement.asset.address ?? ''))
            addToTotal(totals, movement)
    return [...totals.values()].map(toTickerNeeded).sort(byMovements)
  })
}

type Total = { chain: string; contract: string; asset: Movement['asset']; movements: number; value: bigint }

function addToTotal(totals: Map<string, Total>, { chain, asset, value }: Movement): void {
  const { type, address: contract, ticker } = asset
  if (type !== 'erc20' || contract === null || ticker !== undefined) return
  const key = `${chain}|${contract}`
  const total = totals.get(key) ?? { chain, contract, asset, movements: 0, value: 0n }
  total.movements += 1
  total.value += value
  totals.set(key, total)
}

function toTickerNeeded({ chain, contract, asset, movements, value }: Total): TickerNeeded {
  const volume = shiftDecimal(String(value), asset.decimals)
  return { chain, contract, symbol: safeText(asset.symbol ?? ''), movements, volume }
}

const byMovements = (a: TickerNeeded, b: TickerNeeded) =>
  b.movements - a.movements || (`${a.contract} ${a.chain}` < `${b.contract} ${b.chain}` ? -1 : 1)
