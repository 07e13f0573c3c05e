import { ADDRESS } from '../../core/model/address.ts'
import { isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import { type FungibleAsset, NATIVE, type PricedAsset } from './priced-asset.ts'

/** A price of one whole unit, as a decimal string, valid from an instant (Unix time in milliseconds). */
type Quote = { from: number; price: string }

/** The user's price list, in one currency. */
export type Prices = {
  currency: string
  /**
   * Returns the newest price at or before `time`, which has the format of the tables. Undefined if there is none, or if
   * it is more than 36 hours old.
   */
  at(asset: PricedAsset, time: string): string | undefined
  /** Returns all prices of an asset, oldest first. */
  all(asset: PricedAsset): readonly Quote[]
}

type NamedAsset = PricedAsset & Pick<FungibleAsset, 'symbol'>

/** A price of a day is valid from the start of that day (UTC) until noon of the next day. */
const MAX_AGE_MS = 36 * 3_600_000

const COLUMNS = ['date', 'asset', 'currency', 'price'] as const

/**
 * Reads a price list like `readPriceList`. Also throws USAGE if it contains no price.
 */
export async function readPrices(
  file: string,
  assetsOf: () => Promise<readonly NamedAsset[]>,
): Promise<Prices> {
  const prices = await readPriceList(file, assetsOf)
  if (prices !== undefined) return prices
  throw new ExportError('USAGE', `${file} contains no price`, { fix: FILL_IN_FIX })
}

const FILL_IN_FIX =
  'Fill in the column price, or let `walletlake prices OUTPUT --out FILE` request the prices of the coin.'

/**
 * Reads a price list from CSV with the columns `date` (a UTC day or instant), `asset` (a contract, `native`, or a
 * symbol that only one asset has), `currency` and `price`. Records without a price are skipped: they are template rows
 * that were not filled in. `assetsOf` returns the assets that a symbol can refer to; it is called only if the file uses
 * symbols. Returns undefined if the file contains no price. Throws USAGE if the file cannot be read, a cell is invalid, an asset has two prices for one instant, or the
 * currencies differ.
 */
export async function readPriceList(
  file: string,
  assetsOf: () => Promise<readonly NamedAsset[]>,
): Promise<Prices | undefined> {
  const pricesByTime = new Map<string, Map<number, string>>()
  let currency: string | undefined
  const priced: CsvRecord[] = []
  await readRecords(file, COLUMNS, (record) => {
    if (record.cells.price !== '') priced.push(record)
  })
  const hasSymbols = priced.some(({ cells }) => !isCoinOrContract(cells.asset ?? ''))
  const keyOf = priceKeys(hasSymbols ? await assetsOf() : [])
  for (const { line, cells } of priced) {
    const { date = '', asset = '', price = '' } = cells
    const error = (found: string, expected: string) => recordError({ file, line }, { found, expected })
    const from = parseUtc(date)
    if (from === undefined) throw error(`date ${date}`, '2024-03-31 or 2024-03-31T12:00:00Z, in UTC')
    if (!/^\d{1,60}(\.\d{1,60})?$/.test(price))
      throw error(`price ${price}`, 'digits with an optional decimal point')
    const code = (cells.currency ?? '').toUpperCase()
    if (!/^[A-Z]{2,10}$/.test(code)) throw error(`currency ${cells.currency}`, 'a code such as USD')
    currency ??= code
    if (currency !== code) throw error(`currency ${code}`, `${currency}, as in the lines above`)
    const { key, matches } = keyOf(asset)
    if (key === undefined) throw error(`asset ${asset}, the symbol of ${matches.join(' and ')}`, 'a contract')
    const times = pricesByTime.get(key) ?? new Map<number, string>()
    if (times.has(from)) throw error(`a second price of ${asset}`, 'one per instant')
    pricesByTime.set(key, times.set(from, price))
  }
  if (currency === undefined) return undefined
  return pricesFrom(sortQuotes(pricesByTime), currency)
}

function sortQuotes(pricesByTime: ReadonlyMap<string, ReadonlyMap<number, string>>): Map<string, Quote[]> {
  const quotesOf = (times: ReadonlyMap<number, string>) =>
    [...times].map(([from, price]) => ({ from, price })).sort((a, b) => a.from - b.from)
  return new Map([...pricesByTime].map(([key, times]) => [key, quotesOf(times)]))
}

function pricesFrom(quotes: ReadonlyMap<string, readonly Quote[]>, currency: string): Prices {
  const all = (asset: PricedAsset) => (isNft(asset) ? [] : (quotes.get(asset.address ?? NATIVE) ?? []))
  const instantOf = memoizeLast(Date.parse)
  return {
    ...{ currency, all },
    at: (asset, time) => {
      const instant = instantOf(time)
      const quote = newestAt(all(asset), instant)
      return quote === undefined || instant - quote.from > MAX_AGE_MS ? undefined : quote.price
    },
  }
}

/** Binary search for the last quote at or before the instant. `quotes` are sorted, oldest first. */
function newestAt(quotes: readonly Quote[], instant: number): Quote | undefined {
  let [low, high] = [0, quotes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((quotes[middle]?.from ?? 0) <= instant) low = middle + 1
    else high = middle
  }
  return quotes[low - 1]
}

/** Whether a name is a contract address or `native`, not a symbol. */
const isCoinOrContract = (name: string) => name === NATIVE || ADDRESS.test(name)

/**
 * The key of an asset's prices: its contract or `native`. `key` is undefined if the name is a symbol of several assets
 * (`matches`).
 */
type PriceKey = { key: string | undefined; matches: string[] }

/** Returns a function that finds the key of a name. Each name is looked up among the assets once. */
function priceKeys(assets: readonly NamedAsset[]): (name: string) => PriceKey {
  const keys = new Map<string, PriceKey>()
  return (name) => {
    const key = keys.get(name) ?? priceKey(name, assets)
    keys.set(name, key)
    return key
  }
}

function priceKey(name: string, assets: readonly NamedAsset[]): PriceKey {
  if (isCoinOrContract(name)) return { key: name.toLowerCase(), matches: [] }
  const addresses = assets.filter(({ symbol }) => symbol === name).map(({ address }) => address ?? NATIVE)
  const matches = [...new Set(addresses)].sort()
  // A symbol that no asset of the export has gets a key that no look-up uses.
  return { key: matches.length > 1 ? undefined : (matches[0] ?? `symbol ${name}`), matches }
}
