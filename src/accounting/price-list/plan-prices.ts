import { isNft } from '../../core/model/asset.ts'
import { chainIdOf, chainOf } from '../../core/model/chains.ts'
import { isWrappedNative } from '../../core/model/pegs.ts'
import { type Balance, balances } from '../../ledger/balances/balances.ts'
import { NATIVE } from '../../ledger/prices/prices.ts'
import { type Asset, hasTransaction } from '../movement.ts'
import { safeText } from '../names/names.ts'
import { canBePriced, comparePrices, type NeededOptions, pricedMovements, priceKey } from '../needed.ts'
import { instantBefore, type Period, parsePeriod } from '../options.ts'
import type { ConversionSource } from '../sources.ts'
import type { DayTransaction, PricePoint } from './price-source.ts'

export type PlanOptions = NeededOptions & {
  /** Whether stablecoins of the currency cost 1 of it, and wrapped coins as much as the coin. @default false */
  assumePegs?: boolean | undefined
  /** Whether the prices of what is held at the end of each year are needed too, as in the report. @default false */
  yearEnds?: boolean | undefined
}

/**
 * Returns the prices of the movements of the period and of what is held before and after it, which conversions, statements
 * and reports need, and the first EVM transaction of each day. The price of a wrapped coin also needs that of the coin.
 */
export async function planPrices(source: ConversionSource, options: PlanOptions) {
  const { chain, nativeSymbol } = source.opened.manifest.job
  const points = new Map<string, PricePoint>()
  const days = new Map<string, DayTransaction>()
  const symbol = nativeSymbol ?? chainOf(chain)?.symbol ?? null
  const coin: Asset = { type: 'native', address: null, tokenId: null, decimals: null, symbol }
  const addPoint = ({ asset, time }: HeldAsset) => {
    const needed = { date: time.slice(0, 10), chain: chainIdOf(chain), asset: asset.address ?? NATIVE }
    const key = priceKey(needed)
    if (!points.has(key)) points.set(key, { ...needed, symbol: safeText(asset.symbol ?? ''), time })
  }
  const add = ({ asset, time }: HeldAsset) => {
    addPoint({ asset: asset.address === null ? coin : asset, time })
    if (options.assumePegs && isWrappedNative(chain, asset.address ?? '')) addPoint({ asset: coin, time })
  }
  const period = parsePeriod(options.from, options.until)
  // A transaction of the day before the period states the price of what is held then.
  const from = period.from === '' ? undefined : instantBefore(period.from).slice(0, 10)
  let [firstYear, lastYear] = [Number.POSITIVE_INFINITY, 0]
  for await (const movement of pricedMovements(source, { ...options, from })) {
    const { time, transaction: hash } = movement
    const date = time.slice(0, 10)
    if (time >= period.from) add(movement)
    if (!days.has(date) && hasTransaction(movement)) days.set(date, { date, hash, time })
    const year = Number(time.slice(0, 4))
    firstYear = Math.min(firstYear, year)
    lastYear = Math.max(lastYear, year)
  }
  const heldAt = heldAtReader(source, options)
  for (const held of await heldAssets(heldAt, period)) if (canBePriced(source, held.asset)) add(held)
  for (let year = firstYear; options.yearEnds && year < lastYear; year += 1)
    for (const held of await heldAt(`${year}-12-31T23:59:59.999Z`))
      if (canBePriced(source, held.asset)) add(held)
  return { points: [...points.values()].sort(comparePrices), days }
}

/** An asset that a wallet moves or holds at a time, in the format of the tables. */
type HeldAsset = { asset: Asset; time: string }

/** Returns what is held at an instant, or at the newest row. */
type HeldAt = (at: string | undefined) => Promise<HeldAsset[]>

/**
 * Returns the coins and tokens that the wallets hold at the last instants before the period and of it. A period without an
 * end ends with the newest row.
 */
async function heldAssets(heldAt: HeldAt, { from, to }: Period): Promise<HeldAsset[]> {
  const before = from === '' ? [] : await heldAt(instantBefore(from))
  return before.concat(await heldAt(to === '9999' ? undefined : instantBefore(to)))
}

function heldAtReader({ output, exports }: ConversionSource, options: PlanOptions): HeldAt {
  const { opening, adjustments } = options
  return async (at) => {
    const { balances: held, newest } = await balances(output, { at, opening, adjustments, exports })
    const time = at ?? newest?.time
    return time === undefined ? [] : held.flatMap((balance) => assetOf(balance, time))
  }
}

/** Returns nothing for NFTs and for tokens without decimals, which have no price. */
function assetOf(balance: Balance, time: string): HeldAsset[] {
  const { asset_type: type, asset_address: address, asset_symbol: symbol, asset_decimals: decimals } = balance
  if (decimals === null || isNft({ type })) return []
  return [{ asset: { type: type as Asset['type'], address, tokenId: null, symbol, decimals }, time }]
}
