import * as v from 'valibot'
import { httpPriceSource, type PriceRequest } from './http-prices.ts'
import { marketAssetOf } from './market-ids.ts'
import type { PricePoint, Quote } from './price-source.ts'
import { positivePrice, readAnswer } from './read-answer.ts'

/**
 * DefiLlama: prices of `chain:contract` at instants, in US dollars, without a key.
 * https://api-docs.defillama.com: `GET /batchHistorical?coins={"chain:contract":[seconds]}&searchWidth=6h`. As its server answers
 * (DefiLlama/defillama-server 0208370, coins/src/getBatchHistoricalCoins.ts): the records of a coin are in any order, times
 * without one are left out, and the confidence is that of the coin now.
 */
export const DEFILLAMA = httpPriceSource({
  name: 'defillama',
  title: 'DefiLlama',
  baseUrl: 'https://coins.llama.fi',
  baseUrlVariable: 'WALLETLAKE_DEFILLAMA_URL',
  requestsPerMinute: 300,
  currencies: ['USD'],
  plan: (points) => {
    const named = points.flatMap((point) => {
      const coin = coinOf(point)
      return coin === undefined ? [] : [{ point, coin, seconds: Math.floor(Date.parse(point.time) / 1_000) }]
    })
    const requests: PriceRequest[] = []
    for (let at = 0; at < named.length; at += BATCH) requests.push(batchRequest(named.slice(at, at + BATCH)))
    return requests
  },
})

/** Prices in one request, whose URL stays below 8 kB. */
const BATCH = 50
/** A record is the price of an instant if it is at most this much older or newer. */
const SEARCH_SECONDS = 6 * 3_600
/** Prices of pools with little liquidity have a lower confidence, and can be far off. */
const MIN_CONFIDENCE = 0.9

function coinOf(point: PricePoint): string | undefined {
  const asset = marketAssetOf(point, 'defillama')
  if (asset === undefined) return undefined
  return 'coin' in asset ? `coingecko:${asset.coin}` : `${asset.chain}:${asset.contract}`
}

type NamedPoint = { point: PricePoint; coin: string; seconds: number }

function batchRequest(batch: readonly NamedPoint[]): PriceRequest {
  const times: Record<string, number[]> = {}
  for (const { coin, seconds } of batch) times[coin] = [...(times[coin] ?? []), seconds]
  const coins = encodeURIComponent(JSON.stringify(times))
  return {
    path: `/batchHistorical?coins=${coins}&searchWidth=6h`,
    points: batch.map(({ point }) => point),
    read: (body) => {
      const answer = readAnswer(ANSWER, body)
      const quotes = new Map<PricePoint, Quote>()
      for (const { point, coin, seconds } of batch) {
        const quote = nearest(answer.coins[coin]?.prices ?? [], seconds)
        if (quote !== undefined) quotes.set(point, quote)
      }
      return quotes
    },
  }
}

const ANSWER = v.object({
  coins: v.record(
    v.string(),
    v.object({
      prices: v.array(
        v.object({ timestamp: v.number(), price: v.number(), confidence: v.optional(v.number()) }),
      ),
    }),
  ),
})

type Records = v.InferOutput<typeof ANSWER>['coins'][string]['prices']

function nearest(records: Records, seconds: number): Quote | undefined {
  const distance = ({ timestamp }: { timestamp: number }) => Math.abs(timestamp - seconds)
  const [best] = records
    .filter(({ confidence = 1 }) => confidence >= MIN_CONFIDENCE)
    .filter((record) => distance(record) <= SEARCH_SECONDS)
    .sort((a, b) => distance(a) - distance(b))
  const price = best === undefined ? undefined : positivePrice(best.price)
  if (best === undefined || price === undefined) return undefined
  return { price, currency: 'USD', source: 'defillama', time: new Date(best.timestamp * 1_000).toISOString() }
}
