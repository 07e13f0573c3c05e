import { ADDRESS } from '../../core/model/address.ts'
import { isNft } from '../../core/model/asset.ts'
import { parseChain } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import { describePlainNumber } from '../describe-plain-number.ts'
import { type FungibleAsset, NATIVE, type PricedAsset } from './priced-asset.ts'

/** A price of one whole unit, as a decimal string, valid from an instant (Unix time in milliseconds). */
export type Quote = { from: number; price: string }

/** The user's prices of the assets of one chain, in one currency. */
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

/** The chain whose prices are read, and its assets. */
export type PricedChain = {
  chain: string
  /** Returns the assets that a symbol can refer to. Called only if the file uses symbols for the chain. */
  assetsOf: () => Promise<readonly NamedAsset[]>
}

/**
 * Reads the prices of a chain like `readPriceList`. Also throws USAGE if the file contains no price.
 */
export async function readPrices(file: string, chain: PricedChain): Promise<Prices> {
  const prices = await readPriceList(file, chain)
  if (prices !== undefined) return prices
  throw new ExportError('USAGE', `${file} contains no price`, { fix: FILL_IN_FIX })
}

const FILL_IN_FIX =
  'Fill in the column price, or let `walletlake prices OUTPUT --out FILE` request the prices of the coin.'

/**
 * Reads the prices of a chain from CSV with the columns `date` (a UTC day or instant), `asset` (a contract, `native`, or a
 * symbol that only one asset has), `currency`, `price` and, optionally, `chain`. Records without a chain apply to the given
 * one; those of other chains are ignored. Records without a price are skipped: they are template rows that were not filled
 * in. Returns undefined if the file contains no price of any chain. Throws USAGE if the file cannot be read, a cell is
 * invalid, an asset has two prices for one instant, or the currencies differ.
 */
export async function readPriceList(
  file: string,
  { chain, assetsOf }: PricedChain,
): Promise<Prices | undefined> {
  const all = await readPriceLines(file, chain)
  const [first] = all
  if (first === undefined) return undefined
  const { currency } = first
  const lines = all.filter((one) => one.chain === chain)
  const hasSymbols = lines.some(({ asset }) => !isCoinOrContract(asset))
  const keyOf = priceKeys(hasSymbols ? await assetsOf() : [])
  const pricesByTime = new Map<string, Map<number, string>>()
  for (const { line, from, asset, price } of lines) {
    const { key, matches } = keyOf(asset)
    const error = (found: string, expected: string) => recordError({ file, line }, { found, expected })
    if (key === undefined) throw error(`asset ${asset}, the symbol of ${matches.join(' and ')}`, 'a contract')
    const times = pricesByTime.get(key) ?? new Map<number, string>()
    if (times.has(from)) throw error(`a second price of ${asset}`, 'one per instant')
    pricesByTime.set(key, times.set(from, price))
  }
  return pricesFrom(sortQuotes(pricesByTime), currency)
}

/** A record with a price. `from` is Unix time in milliseconds. */
type PriceLine = { line: number; chain: string; from: number; asset: string; price: string; currency: string }

/** Reads the records with a price. Those without a chain are of the chain `own`. */
async function readPriceLines(file: string, own: string): Promise<PriceLine[]> {
  const lines: PriceLine[] = []
  await readRecords(file, COLUMNS, ({ line, cells }) => {
    const { date = '', asset = '', price = '' } = cells
    if (price === '') return
    const error = (found: string, expected: string) => recordError({ file, line }, { found, expected })
    const from = parseUtc(date)
    if (from === undefined)
      throw error(`date ${date || 'empty'}`, '2024-03-31 or 2024-03-31T12:00:00Z, in UTC')
    if (!/^\d{1,60}(\.\d{1,60})?$/.test(price)) throw error(`price ${price}`, describePlainNumber(price))
    const currency = (cells.currency ?? '').toUpperCase()
    if (!/^[A-Z]{2,10}$/.test(currency))
      throw error(`currency ${cells.currency || 'empty'}`, 'a code such as USD')
    const expected = lines[0]?.currency ?? currency
    if (currency !== expected) throw error(`currency ${currency}`, `${expected}, as in the lines above`)
    const chain = parseChain(chainCell(cells) || own, own)
    if (chain === undefined)
      throw error(`chain ${cells.chain}`, 'an id such as 43114, a name such as avalanche, or nothing')
    lines.push({ line, chain, from, asset, price, currency })
  })
  return lines
}

const chainCell = ({ chain = '' }: CsvRecord['cells']): string => chain.trim()

/**
 * Throws USAGE if the exports are of several chains and a price in the file has no chain: the coin of every chain is
 * `native`, and two chains can have different tokens at one address.
 */
export async function requireChainOfEachPrice(file: string, chains: readonly string[]): Promise<void> {
  const distinct = [...new Set(chains)]
  if (distinct.length <= 1) return
  await readRecords(file, COLUMNS, ({ line, cells }) => {
    if (cells.price === '' || chainCell(cells) !== '') return
    throw new ExportError(
      'USAGE',
      `${file}:${line}: found a price without a chain, but these exports are of chains ${distinct.join(' and ')}`,
      { fix: 'Name the chain of each price, such as 43114 or avalanche, in the column chain.' },
    )
  })
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
    currency,
    all,
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
