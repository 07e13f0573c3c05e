import { DEFAULT_API } from '../../core/model/api.ts'
import { isNft } from '../../core/model/asset.ts'
import { chainIdOf, chainOf, parseChain } from '../../core/model/chains.ts'
import { ExportError, toExportError } from '../../core/model/errors.ts'
import { isStablecoin, isWrappedNative } from '../../core/model/pegs.ts'
import { utcDay } from '../../core/model/utc.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { type Balance, balances } from '../../ledger/balances/balances.ts'
import type { OpeningOption } from '../../ledger/balances/read-opening.ts'
import { NATIVE, pricedAssetOf, pricedChainOf, readPriceList } from '../../ledger/prices/prices.ts'
import { readRecords } from '../../read/csv-records.ts'
import type { Dataset } from '../../read/dataset.ts'
import { createMeter } from '../../sources/data-api/compute-units.ts'
import { type OpenedService, openService } from '../../sources/data-api/open-service.ts'
import { readCoinPrice } from '../../sources/data-api/read-coin-price.ts'
import { SERVICE_CLIENT_DEFAULTS } from '../../sources/data-api/service-client.ts'
import type { RequestCounts, ServiceAccess } from '../../sources/service-access.ts'
import { type Asset, hasTransaction } from '../movement.ts'
import {
  addNeeded,
  canBePriced,
  comparePrices,
  type NeededOptions,
  type PriceNeeded,
  pricedMovements,
  sortedPrices,
} from '../needed.ts'
import { instantBefore, type Period, parsePeriod } from '../options.ts'
import { type ConversionSource, withSources } from '../sources.ts'

export type FetchPricesOptions = NeededOptions & {
  service: ServiceAccess
  /** Currency code of the prices, in any letter case. */
  currency: string
  /** Price file of an earlier call or of the user: its prices are kept and not requested again. @default none */
  prices?: string | undefined
  /** Whether stablecoins of the currency cost 1 of it, and wrapped coins as much as the coin. @default false */
  assumePegs?: boolean | undefined
  /** Called before the first request. @default none */
  onStart?: (predicted: { requests: number; computeUnits: number }) => void
  /** Called after each request with the number of days that are done. @default none */
  onProgress?: (days: number) => void
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
 * Completes a price file: the prices of the native coin come from the details of one transaction of each day, as the
 * service states them. Nothing is interpolated: a day whose transaction has no price remains without one, and so do all
 * days with a service of another API, which states no prices.
 *
 * @throws ExportError USAGE if the file of prices is invalid or in another currency, or the export has no ledger
 */
export async function fetchPrices(output: string, options: FetchPricesOptions): Promise<FetchedPrices> {
  return withSources(
    output,
    options,
    async ([source]) => completePrices(source as ConversionSource, options),
    'prices are requested for',
  )
}

async function completePrices(source: ConversionSource, options: FetchPricesOptions): Promise<FetchedPrices> {
  const currency = options.currency.toUpperCase()
  const { chain, wrappedCoins = [] } = source.opened.manifest.job
  const kept = await readKeptPrices(source.opened, options.prices, currency)
  const { needed, days } = await planPrices(source, options)
  const missing = needed.filter(({ asset, date }) => kept.priceOf(asset, date) === undefined)
  const requested = missing.flatMap(({ asset, date }) => (asset === NATIVE ? (days.get(date) ?? []) : []))
  const { byDay, error, counts } = await requestPrices(requested, { ...options, currency, chain })
  const coinAt = (date: string): PriceSource | undefined => {
    const price = kept.priceOf(NATIVE, date)
    return price === undefined ? byDay.get(date) : { price, source: 'price of the coin' }
  }
  const added: PriceLine[] = []
  const unpriced: PriceNeeded[] = []
  for (const price of missing) {
    const stated =
      price.asset === NATIVE
        ? coinAt(price.date)
        : pegOf(price, { ...options, currency, chain, wrappedCoins, coinAt })
    if (stated === undefined) unpriced.push(price)
    else added.push({ ...price, currency, ...stated })
  }
  return {
    lines: [...kept.lines, ...added, ...unpriced],
    added: added.length,
    missing: unpriced,
    counts,
    error,
  }
}

/** A price and the cells that say where it comes from. */
type PriceSource = Pick<PriceLine, 'source' | 'transaction' | 'time'> & { price: string }

type KeptPrices = {
  lines: PriceLine[]
  /** The price of an asset, a contract or `native`, that is valid from an instant of this day. */
  priceOf(asset: string, date: string): string | undefined
}

/** Reads the file of prices; a file without prices has no currency yet. Throws USAGE for another currency. */
async function readKeptPrices(
  opened: Dataset,
  file: string | undefined,
  currency: string,
): Promise<KeptPrices> {
  if (file === undefined) return { lines: [], priceOf: () => undefined }
  const prices = await readPriceList(file, pricedChainOf(opened))
  if (prices !== undefined && prices.currency !== currency)
    throw new ExportError('USAGE', `${file} has prices in ${prices.currency}, not in ${currency}`, {
      fix: `Use --currency ${prices.currency.toLowerCase()}, or name another file with --out.`,
    })
  return {
    lines: await readKeptLines(file, chainIdOf(opened.manifest.job.chain)),
    priceOf: (asset, date) =>
      prices?.all(pricedAssetOf(asset)).find(({ from }) => utcDay(from) === date)?.price,
  }
}

/**
 * Returns the prices of the movements of the period and of what is held before and after it, which conversions, statements
 * and reports need, and the first EVM transaction of each day. The price of a wrapped coin also needs that of the coin.
 */
async function planPrices(source: ConversionSource, options: FetchPricesOptions) {
  const { chain, nativeSymbol } = source.opened.manifest.job
  const needed = new Map<string, PriceNeeded>()
  const days = new Map<string, DayTransaction>()
  const coin: Asset = {
    type: 'native',
    address: null,
    tokenId: null,
    decimals: null,
    symbol: nativeSymbol ?? chainOf(chain)?.symbol ?? null,
  }
  const add = ({ asset, time }: { asset: Asset; time: string }) => {
    addNeeded(needed, { chain: chainIdOf(chain), asset, time })
    if (options.assumePegs && isWrappedNative(chain, asset.address ?? ''))
      addNeeded(needed, { chain: chainIdOf(chain), asset: coin, time })
  }
  const period = parsePeriod(options.from, options.until)
  for (const held of await heldAssets(source.output, period, options.opening))
    if (canBePriced(source, held.asset)) add(held.asset.address === null ? { ...held, asset: coin } : held)
  // A transaction of the day before the period states the price of what is held then.
  const from = period.from === '' ? undefined : instantBefore(period.from).slice(0, 10)
  for await (const movement of pricedMovements(source, { ...options, from })) {
    const { time, transaction: hash } = movement
    const date = time.slice(0, 10)
    if (time >= period.from) add(movement)
    if (!days.has(date) && hasTransaction(movement)) days.set(date, { date, hash, time })
  }
  return { needed: sortedPrices(needed), days }
}

type RequestOptions = FetchPricesOptions & { chain: string }

async function requestPrices(
  days: readonly DayTransaction[],
  { service: access, chain, currency, onStart, onProgress = () => {} }: RequestOptions,
): Promise<CoinPrices & { counts: RequestCounts }> {
  const none = { requests: 0, computeUnits: 0, rateLimited: 0, retries: 0 }
  const { api = DEFAULT_API, onNotice } = access
  const isOffered = api === DEFAULT_API
  if (days.length > 0 && !isOffered)
    onNotice?.(`the API ${api} states no prices: those of the coin are left to fill in`)
  if (days.length === 0 || !isOffered) return { byDay: new Map(), error: undefined, counts: none }
  const service = await openService(access)
  const { costs } = createMeter(access)
  onStart?.({ requests: days.length, computeUnits: days.length * costs.transaction })
  const { concurrency = SERVICE_CLIENT_DEFAULTS.concurrency } = access
  try {
    const fetched = await fetchCoinPrices(days, service, {
      chainId: chain,
      currency,
      concurrency,
      onProgress,
    })
    return { ...fetched, counts: service.counts }
  } finally {
    await service.close()
  }
}

type PegOptions = Pick<RequestOptions, 'assumePegs' | 'chain' | 'currency'> & {
  /** Contracts that the job names as wrapped coins. */
  wrappedCoins: readonly string[]
  coinAt: (date: string) => PriceSource | undefined
}

/** The price of a token by its peg, if pegs are assumed. */
function pegOf(
  { asset, date }: PriceNeeded,
  { assumePegs = false, chain, currency, wrappedCoins, coinAt }: PegOptions,
): PriceSource | undefined {
  if (!assumePegs) return undefined
  if (isStablecoin(chain, asset, currency)) return { price: '1', source: 'assumed peg' }
  const isWrapped = wrappedCoins.includes(asset) || isWrappedNative(chain, asset)
  const coin = isWrapped ? coinAt(date) : undefined
  return coin === undefined ? undefined : { ...coin, source: 'price of the coin' }
}

/** An asset that a wallet holds at a time, in the format of the tables. */
type HeldAsset = { asset: Asset; time: string }

/**
 * Returns the coins and tokens that the wallets hold at the last instants before the period and of it. A period without an
 * end ends with the newest row.
 */
async function heldAssets(
  output: string,
  { from, to }: Period,
  opening: OpeningOption,
): Promise<HeldAsset[]> {
  const before = from === '' ? undefined : instantBefore(from)
  const until = to === '9999' ? undefined : instantBefore(to)
  const start = before === undefined ? undefined : await balances(output, { at: before, opening })
  const end = await balances(output, { at: until, opening })
  return [
    ...(start?.balances ?? []).flatMap((balance) => heldAt(balance, before)),
    ...end.balances.flatMap((balance) => heldAt(balance, until ?? end.newest?.time)),
  ]
}

/** Returns nothing for NFTs and for tokens without decimals, which have no price. */
function heldAt(balance: Balance, time: string | undefined): HeldAsset[] {
  const { asset_type: type, asset_address: address, asset_symbol: symbol, asset_decimals: decimals } = balance
  if (time === undefined || decimals === null || isNft({ type })) return []
  return [{ asset: { type: type as Asset['type'], address, tokenId: null, symbol, decimals }, time }]
}

/** A transaction of a day, whose details state the price of the coin. */
type DayTransaction = {
  /** UTC day. */
  date: string
  hash: string
  /** Time of the block, in the format of the tables. */
  time: string
}

/** The price of one coin, and the transaction whose details state it. */
type StatedPrice = { price: string; source: 'transaction details'; transaction: string; time: string }

/** The prices by day, and the error that ended the requests early. */
type CoinPrices = { byDay: Map<string, StatedPrice>; error: ExportError | undefined }

type FetchOptions = {
  chainId: string
  /** Upper case. */
  currency: string
  concurrency: number
  onProgress: (done: number) => void
}

/**
 * Requests the price of the coin for each day, with one request. Days without a price in the response are absent from
 * the result. After an error, no further request is sent, and the prices received so far are returned with it.
 */
async function fetchCoinPrices(
  days: readonly DayTransaction[],
  { client, signal }: OpenedService,
  { chainId, currency, concurrency, onProgress }: FetchOptions,
): Promise<CoinPrices> {
  const result: CoinPrices = { byDay: new Map(), error: undefined }
  const limit = limitConcurrency(concurrency)
  let done = 0
  const fetchDay = async (day: DayTransaction) => {
    if (result.error !== undefined) return
    const stated = await readCoinPrice(client, { chainId, txHash: day.hash }, signal)
    if (stated !== undefined && stated.currency !== currency)
      throw new ExportError('USAGE', `the service states prices in ${stated.currency}, not in ${currency}`, {
        fix: `Use --currency ${stated.currency.toLowerCase()}, or fill in prices in ${currency} from another source.`,
      })
    if (stated !== undefined) {
      const { hash: transaction, time } = day
      result.byDay.set(day.date, { price: stated.price, source: 'transaction details', transaction, time })
    }
    done += 1
    onProgress(done)
  }
  const fail = (error: unknown) => {
    result.error ??= toExportError(error)
  }
  await Promise.all(days.map((day) => limit(() => fetchDay(day).catch(fail))))
  return result
}

/** The columns of a price file. Those after `price` say where the price comes from; conversions do not use them. */
const COLUMNS = [
  'date',
  'chain',
  'asset',
  'currency',
  'price',
  'symbol',
  'source',
  'transaction',
  'time',
] as const

/** A line of a price file, by column name. Lines of a user's file may have further columns. */
export type PriceLine = Partial<Record<(typeof COLUMNS)[number], string>> & { date: string; asset: string }

/**
 * Reads the lines of a price file that have a price or are of another chain than `own`. Lines without a chain get this one,
 * so that prices of further chains can be added to the file; other cells do not change. Throws USAGE as `readRecords` does.
 */
async function readKeptLines(file: string, own: string): Promise<PriceLine[]> {
  const lines: PriceLine[] = []
  await readRecords(file, ['date', 'asset', 'currency', 'price'], ({ cells }) => {
    const { date = '', asset = '' } = cells
    const chain = cells.chain?.trim() || own
    if (cells.price !== '' || parseChain(chain, own) !== own) lines.push({ ...cells, date, chain, asset })
  })
  return lines
}

/** Returns the text of a price file, sorted by day, chain and asset. */
export function priceFileText(lines: readonly PriceLine[]): string {
  const columns = new Set<string>([...COLUMNS, ...lines.flatMap((line) => Object.keys(line))])
  const rows = [...lines].sort(comparePrices).map((line) => {
    const cells = new Map(Object.entries(line))
    return [...columns].map((name) => cells.get(name) || null)
  })
  return csvRows([[...columns], ...rows])
}
