import { DAY_MS } from '../core/model/utc.ts'
import type { Quote } from '../ledger/prices/prices.ts'
import { exactFiatValue } from '../ledger/prices/prices.ts'

const dayIndex = (time: string) => Math.floor(Date.parse(time) / DAY_MS)
export const dayName = (index: number): string => new Date(index * DAY_MS).toISOString().slice(0, 10)

/** An amount at the end of each day (in days since 1970) on which it changed, in the smallest unit. */
export type DaySeries = { days: number[]; amounts: bigint[] }

/** Sums of all wallets by asset at the ends of days. Times must be passed in ascending order. */
export class DailyBalances {
  readonly series = new Map<string, DaySeries>()
  first: number | undefined
  last = 0
  #time = ''
  #day = 0

  /** Adds a change. What was held before the first row (`isOpening`) counts from the day before on. */
  add(asset: string, time: string, { change, isOpening }: { change: bigint; isOpening: boolean }): void {
    const series = this.series.get(asset) ?? { days: [], amounts: [] }
    this.series.set(asset, series)
    if (time !== this.#time) {
      this.#time = time
      this.#day = dayIndex(time)
      this.first ??= this.#day
      this.last = Math.max(this.last, this.#day)
    }
    const day = Math.max(this.#day - (isOpening ? 1 : 0), series.days.at(-1) ?? 0)
    const { days, amounts } = series
    const sum = (amounts.at(-1) ?? 0n) + change
    if (days.at(-1) === day) amounts[amounts.length - 1] = sum
    else {
      days.push(day)
      amounts.push(sum)
    }
  }

  /** The days of a chart: all from the first to the last one (at least two), or evenly many of them. */
  chartDays(): number[] {
    const { last, first = last } = this
    const count = Math.max(2, last - first + 1)
    const step = Math.ceil(count / MAX_POINTS)
    const days: number[] = []
    for (let day = last; day > last - count; day -= step) days.push(day)
    return days.reverse()
  }
}

const MAX_POINTS = 800

/** A price holds this long; after that it still counts, and the line is dashed. */
const HOLDS_DAYS = 7

/** The value of the last entry at or before each day; `days` are in ascending order. */
function lastAt<T>(
  days: readonly number[],
  from: readonly number[],
  values: readonly T[],
): (T | undefined)[] {
  let at = -1
  return days.map((day) => {
    while (at + 1 < from.length && (from[at + 1] ?? 0) <= day) at += 1
    return values[at]
  })
}

export const amountsAt = (days: readonly number[], { days: from, amounts }: DaySeries): bigint[] =>
  lastAt(days, from, amounts).map((amount) => amount ?? 0n)

type PricedAsset = { id: string; decimals: number; quotes: readonly Quote[]; series: DaySeries }

/** The values of an asset by day, and its price at the end; undefined if it has none yet. */
type AssetValues = { id: string; values: bigint[]; price: string | undefined }

/** Values by day in units of 10^-8 of the currency. */
export type Worth = {
  days: number[]
  /** By asset, the most valuable at the end first. */
  assets: AssetValues[]
  totals: bigint[]
  /** Whether the price of an asset that is held was more than seven days old, or not known yet. */
  isOld: boolean[]
}

/** Multiplies the balances at the ends of days by the newest prices at that time. */
export function worthOf(days: readonly number[], priced: readonly PricedAsset[]): Worth {
  const isOld = days.map(() => false)
  const totals = days.map(() => 0n)
  const assets = priced.map(({ id, decimals, quotes, series }): AssetValues => {
    const quoteDays = quotes.map(({ from }) => Math.floor(from / DAY_MS))
    const quoteAt = lastAt(days, quoteDays, quotes)
    const values = amountsAt(days, series).map((amount, at) => {
      if (amount === 0n) return 0n
      const quote = quoteAt[at]
      if (quote === undefined || (days[at] ?? 0) - quote.from / DAY_MS > HOLDS_DAYS) isOld[at] = true
      const value = quote === undefined ? 0n : exactFiatValue(amount, decimals, quote.price)
      totals[at] = (totals[at] ?? 0n) + value
      return value
    })
    return { id, values, price: quoteAt.at(-1)?.price }
  })
  const last = ({ values }: AssetValues) => values.at(-1) ?? 0n
  assets.sort((a, b) => (last(a) === last(b) ? (a.id < b.id ? -1 : 1) : last(b) > last(a) ? 1 : -1))
  return { days: [...days], assets, totals, isOld }
}
