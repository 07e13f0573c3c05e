import * as v from 'valibot'
import { DAY_MS } from '../../core/model/utc.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import { httpPriceSource, type PriceRequest } from './http-prices.ts'
import { marketAssetOf } from './market-ids.ts'
import type { PricePoint, Quote } from './price-source.ts'
import { positivePrice, readAnswer } from './read-answer.ts'

/** Of its list of currencies, those that the European Central Bank lists too. */
const CURRENCIES: readonly string[] =
  'USD EUR GBP CHF JPY AUD CAD CNY CZK DKK HKD HUF IDR ILS INR KRW MXN MYR NOK NZD PHP PLN SEK SGD THB TRY ZAR'.split(
    ' ',
  )

/**
 * CoinGecko: prices of days by contract, with a demo key. One request states all days of an asset.
 * https://docs.coingecko.com/v3.0.1/reference: `GET /coins/{platform}/contract/{contract}/market_chart/range` and
 * `GET /coins/{id}/market_chart/range`
 */
export const COINGECKO = httpPriceSource({
  name: 'coingecko',
  title: 'CoinGecko',
  baseUrl: 'https://api.coingecko.com/api/v3',
  baseUrlVariable: 'WALLETLAKE_COINGECKO_URL',
  key: {
    variable: 'COINGECKO_API_KEY',
    header: 'x-cg-demo-api-key',
    fix: 'Set COINGECKO_API_KEY to a demo key, which is free: https://www.coingecko.com/en/api/pricing. It states prices of the last 365 days.',
  },
  requestsPerMinute: 30,
  currencies: CURRENCIES,
  plan: (points, { currency, now }) => {
    const byPath = new Map<string, PricePoint[]>()
    const oldest = new Date(now - MAX_AGE_DAYS * DAY_MS).toISOString().slice(0, 10)
    for (const point of points) {
      const path = pathOf(point)
      if (path !== undefined && point.date >= oldest) byPath.set(path, [...(byPath.get(path) ?? []), point])
    }
    const stated = CURRENCIES.includes(currency) ? currency : 'USD'
    return [...byPath].map(([path, days]) => rangeRequest(path, days, stated))
  },
})

/** A demo key reaches back 365 days. The oldest one is left out, because it may be cut off. */
const MAX_AGE_DAYS = 364

function pathOf(point: PricePoint): string | undefined {
  const asset = marketAssetOf(point, 'coingecko')
  if (asset === undefined) return undefined
  return 'coin' in asset ? `/coins/${asset.coin}` : `/coins/${asset.chain}/contract/${asset.contract}`
}

function rangeRequest(path: string, points: readonly PricePoint[], currency: string): PriceRequest {
  const starts = points.map(({ date }) => Date.parse(date))
  const from = smallest(starts, starts[0] ?? 0)
  const to = largest(starts, from) + DAY_MS
  const range = `vs_currency=${currency.toLowerCase()}&from=${from / 1_000}&to=${to / 1_000}`
  return {
    path: `${path}/market_chart/range?${range}`,
    points,
    read: (body) => {
      const { prices } = readAnswer(ANSWER, body)
      const firstOfDay = new Map<string, Quote>()
      for (const [ms, value] of prices) {
        const price = positivePrice(value)
        const time = new Date(ms).toISOString()
        if (price !== undefined && !firstOfDay.has(time.slice(0, 10)))
          firstOfDay.set(time.slice(0, 10), { price, currency, source: 'coingecko', time })
      }
      const quotes = new Map<PricePoint, Quote>()
      for (const point of points) {
        const quote = firstOfDay.get(point.date)
        if (quote !== undefined) quotes.set(point, quote)
      }
      return quotes
    },
  }
}

/** Milliseconds, and the price. Further lists of the answer, such as market capitalizations, are not read. */
const ANSWER = v.object({
  prices: v.array(v.tuple([v.pipe(v.number(), v.minValue(0), v.maxValue(8e15)), v.number()])),
})
