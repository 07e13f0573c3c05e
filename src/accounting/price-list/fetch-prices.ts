import { type ExportError, toExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import { isStablecoin, isWrappedNative } from '../../core/model/pegs.ts'
import { DAY_MS } from '../../core/model/utc.ts'
import { NATIVE } from '../../ledger/prices/prices.ts'
import type { RequestCounts, ServiceAccess } from '../../sources/service-access.ts'
import { type PriceNeeded, priceKey } from '../needed.ts'
import { type ConversionSource, withSources } from '../sources.ts'
import { COINGECKO } from './coingecko.ts'
import { csvPrices } from './csv-prices.ts'
import { DEFILLAMA } from './defillama.ts'
import { type ExchangeRates, requestRates } from './exchange-rates.ts'
import { type PlanOptions, planPrices } from './plan-prices.ts'
import { type KeptPrices, notFoundBy, type PriceLine, readKeptPrices } from './price-file.ts'
import type {
  DayTransaction,
  Environment,
  PredictedRequests,
  PricePoint,
  PriceSearch,
  PriceSource,
  Quote,
} from './price-source.ts'
import { SERVICE } from './service-prices.ts'
import { SWAPS } from './swap-prices.ts'

const SOURCES: readonly PriceSource[] = [SERVICE, DEFILLAMA, COINGECKO, SWAPS]
const CSV_PREFIX = 'csv:'
/** What names a source of prices. */
export const PRICE_SOURCE_NAMES = [...SOURCES.map(({ name }) => name), `${CSV_PREFIX}FILE`]

/** Returns the source of a name; undefined if there is none. */
function priceSourceOf(name: string): PriceSource | undefined {
  if (name.startsWith(CSV_PREFIX) && name !== CSV_PREFIX) return csvPrices(name.slice(CSV_PREFIX.length))
  return SOURCES.find((source) => source.name === name)
}

export type FetchPricesOptions = PlanOptions & {
  /** Names of the sources, each asked for what the earlier ones do not state. @default service */
  sources?: readonly string[] | undefined
  service: ServiceAccess
  /** Currency code of the prices, in any letter case. */
  currency: string
  /** Price file of an earlier call or of the user: its prices are kept and not requested again. @default none */
  prices?: string | undefined
  /** Variables with keys and URLs of sources. @default process.env */
  env?: Environment | undefined
  /** Milliseconds since 1970. @default the clock of this machine */
  now?: number | undefined
  /** Called before the first request to a source. @default none */
  onStart?: (predicted: PredictedRequests) => void
  /** Called after each request with the number of answers of the source. @default none */
  onProgress?: (answers: number) => void
}

export type FetchedPrices = {
  /** All lines of the price file: kept ones, added ones, and missing ones without a price. */
  lines: PriceLine[]
  /** Number of prices that were added. */
  added: number
  /** The prices that remain empty. */
  missing: PriceNeeded[]
  counts: RequestCounts
  /** The error that ended the requests early; the prices up to then are in `lines`. */
  error: ExportError | undefined
}

/**
 * Completes a price file with the prices that sources state. Nothing is interpolated: what no source states remains without a
 * price. Prices in another currency are converted by rates of the European Central Bank.
 *
 * @throws ExportError USAGE if the file of prices is invalid or in another currency, or the export has no ledger
 */
export async function fetchPrices(output: string, options: FetchPricesOptions): Promise<FetchedPrices> {
  const sources = (options.sources ?? [SERVICE.name]).map((name) => {
    const source = priceSourceOf(name)
    if (source !== undefined) return source
    throw optionError('from', { found: name, expected: PRICE_SOURCE_NAMES.join(', ') })
  })
  return withSources(
    output,
    options,
    async ([exported]) => completePrices(exported as ConversionSource, sources, options),
    'prices are requested for',
  )
}

async function completePrices(
  exported: ConversionSource,
  sources: readonly PriceSource[],
  options: FetchPricesOptions,
): Promise<FetchedPrices> {
  const currency = options.currency.toUpperCase()
  const kept = await readKeptPrices(exported, options.prices, currency)
  const { points, days } = await planPrices(exported, options)
  const search = new Search({ exported, days, kept, options, currency })
  const missing = () => points.filter(({ asset, date }) => search.priceOf(asset, date) === undefined)
  for (const source of sources) {
    search.addPegs(missing())
    await search.ask(source, missing())
  }
  search.addPegs(missing())
  const added = points.flatMap((point) => search.lineOf(point) ?? [])
  const unpriced = missing().map(({ time: _, ...needed }) => needed)
  const empty = unpriced.map((needed) => {
    const source = notFoundBy(kept.asked.get(priceKey(needed)))
    return source === undefined ? needed : { ...needed, source }
  })
  const { error, counts } = search
  return { lines: [...kept.lines, ...added, ...empty], added: added.length, missing: unpriced, counts, error }
}

type SearchOptions = {
  exported: ConversionSource
  days: ReadonlyMap<string, DayTransaction>
  kept: KeptPrices
  options: FetchPricesOptions
  /** Upper case. */
  currency: string
}

/** A price in the currency of the file, and the cells that say where it comes from. */
type Priced = Omit<Quote, 'currency'>

/** Asks sources one after the other. After an error, no further one is asked. */
class Search {
  error: ExportError | undefined
  readonly #options: SearchOptions
  readonly #priced = new Map<string, Priced>()
  readonly #access: ServiceAccess
  readonly #endsAt: number
  readonly #opened: Readonly<RequestCounts>[] = []
  #rates: ExchangeRates | undefined

  constructor(options: SearchOptions) {
    const { service } = options.options
    this.#options = options
    this.#access = { ...service, usage: service.usage ?? { requests: 0 } }
    this.#endsAt = performance.now() + (service.deadlineMs ?? Number.POSITIVE_INFINITY)
  }

  /** The requests of all sources. */
  get counts(): RequestCounts {
    const sum = { requests: 0, computeUnits: 0, rateLimited: 0, retries: 0 }
    for (const counts of this.#opened) {
      sum.requests += counts.requests
      sum.computeUnits += counts.computeUnits
      sum.rateLimited += counts.rateLimited
      sum.retries += counts.retries
    }
    return sum
  }

  priceOf = (asset: string, date: string): string | undefined =>
    this.#options.kept.priceOf(asset, date) ?? this.#priced.get(keyOf(asset, date))?.price

  /** The line of a price that was found; undefined for others. */
  lineOf({ time: _, ...needed }: PricePoint): PriceLine | undefined {
    const priced = this.#priced.get(keyOf(needed.asset, needed.date))
    return priced && { ...needed, currency: this.#options.currency, ...priced }
  }

  /** Prices tokens by their peg, if pegs are assumed. */
  addPegs(points: readonly PricePoint[]): void {
    const { exported, kept, options, currency } = this.#options
    const { chain, wrappedCoins = [] } = exported.opened.manifest.job
    for (const { asset, date } of options.assumePegs ? points : []) {
      const isWrapped = wrappedCoins.includes(asset) || isWrappedNative(chain, asset)
      const keptPrice = isWrapped ? kept.priceOf(NATIVE, date) : undefined
      const coin = keptPrice === undefined ? this.#priced.get(keyOf(NATIVE, date)) : { price: keptPrice }
      if (isStablecoin(chain, asset, currency))
        this.#priced.set(keyOf(asset, date), { price: '1', source: 'assumed peg' })
      else if (isWrapped && coin !== undefined)
        this.#priced.set(keyOf(asset, date), { ...coin, source: 'price of the coin' })
    }
  }

  /** Asks a source for the points that it has not been asked for in vain. */
  async ask(source: PriceSource, missing: readonly PricePoint[]): Promise<void> {
    const { exported, days, kept, options, currency } = this.#options
    const points = missing.filter((point) => !kept.asked.get(priceKey(point))?.has(source.name))
    if (this.error !== undefined || points.length === 0) return
    const { currencies = [currency] } = source
    const stated: [PricePoint, Quote][] = []
    const requests = this.#requests()
    try {
      if (!currencies.includes(currency)) this.#rates ??= await requestRates(requests)
      const { onStart = () => {}, onProgress = () => {}, now = Date.now() } = options
      const add = (point: PricePoint, quote: Quote | undefined) => {
        if (quote !== undefined) stated.push([point, quote])
        else if (isSettled(point, now)) addTo(kept.asked, priceKey(point), source.name)
      }
      const { priceOf } = this
      const access = { ...requests, priceOf, onStart, onProgress }
      await source.find({ ...access, exported, points, days, currency, now, add })
    } catch (thrown) {
      this.error = toExportError(thrown)
    } finally {
      await this.#addQuotes(stated).catch((thrown: unknown) => {
        this.error ??= toExportError(thrown)
      })
    }
  }

  async #addQuotes(stated: readonly [PricePoint, Quote][]): Promise<void> {
    const { currency: wanted } = this.#options
    for (const [{ asset, date }, { currency, ...priced }] of stated) {
      const key = keyOf(asset, date)
      if (currency === wanted) this.#priced.set(key, priced)
      else {
        this.#rates ??= await requestRates(this.#requests())
        const converted = this.#rates.convert(priced.price, currency, wanted, date)
        if (converted === undefined) continue
        const source = `${priced.source} (${currency}, ECB rate of ${converted.rateDay})`
        this.#priced.set(key, { ...priced, price: converted.price, source })
      }
    }
  }

  /** What the requests of the next source depend on. */
  #requests(): Pick<PriceSearch, 'access' | 'env' | 'onOpened'> {
    const left = this.#endsAt - performance.now()
    const deadlineMs = Number.isFinite(left) ? Math.max(1, left) : undefined
    return {
      access: { ...this.#access, deadlineMs },
      env: this.#options.options.env ?? process.env,
      onOpened: (counts) => this.#opened.push(counts),
    }
  }
}

const keyOf = (asset: string, date: string) => `${date} ${asset}`

/** Whether a day is so long ago that a source which has no price of it will hardly get one. */
const isSettled = ({ date }: PricePoint, now: number) => Date.parse(date) < now - 3 * DAY_MS

function addTo(sets: Map<string, Set<string>>, key: string, name: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(name))
}
