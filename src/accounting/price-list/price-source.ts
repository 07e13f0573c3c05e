import type { RequestCounts, ServiceAccess } from '../../sources/service-access.ts'
import type { PriceNeeded } from '../needed.ts'
import type { ConversionSource } from '../sources.ts'

/**
 * A source of prices is one file of this folder that exports a `PriceSource`, and a line in `fetch-prices.ts`. Sources that
 * are HTTP interfaces declare themselves as `HttpPrices` (`http-prices.ts`), which sends their requests.
 */
export type PriceSource = {
  /** The name after `--from`. */
  name: string
  /** The currencies that it states prices in; others are converted by rates of the ECB. @default any */
  currencies?: readonly string[]
  /** Looks for prices and passes them to `search.add`. Prices that were added count although it throws. */
  find(search: PriceSearch): Promise<void>
}

/** A price that is needed, and the time of its day at which sources of instants are asked for it. */
export type PricePoint = PriceNeeded & {
  /** In the format of the tables. */
  time: string
}

/** A price of one whole unit as a source states it, and where it comes from. */
export type Quote = {
  /** Plain digits, above zero. */
  price: string
  /** Upper case. */
  currency: string
  source: string
  /** The time that the price is of, in the format of the tables. */
  time?: string
  transaction?: string
}

/** What a source may use. */
export type PriceSearch = {
  exported: ConversionSource
  /** The prices that are missing. */
  points: readonly PricePoint[]
  /** The first EVM transaction of each day of the period. */
  days: ReadonlyMap<string, DayTransaction>
  /** Upper case. */
  currency: string
  /** The data service of the export, and the limits of all requests. */
  access: ServiceAccess
  env: Environment
  /** Milliseconds since 1970. */
  now: number
  /** Returns the price that is known so far. */
  priceOf(asset: string, date: string): string | undefined
  /** Adds a price; undefined if the source was asked and states none. */
  add(point: PricePoint, quote: Quote | undefined): void
  /** Called with the counts of the source's requests, which are updated in place. */
  onOpened(counts: Readonly<RequestCounts>): void
  /** Called before the first request, with the number of requests that are sent at most. */
  onStart(predicted: PredictedRequests): void
  /** Called with the number of answers received. */
  onProgress(answers: number): void
}

export type PredictedRequests = { source: string; requests: number; computeUnits: number; prices: number }

/** Variables of the environment: keys, and URLs that replace those of sources. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A transaction of a day, whose details state the price of the coin. */
export type DayTransaction = {
  /** UTC day. */
  date: string
  hash: string
  /** Time of the block, in the format of the tables. */
  time: string
}
