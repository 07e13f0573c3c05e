import { ADDRESS } from '../../core/model/address.ts'
import { isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import type { FungibleAsset, PricedAsset } from './priced-asset.ts'

/** A price of one whole unit, plain digits, from an instant (milliseconds since 1970) on. */
type Quote = { from: number; price: string }

/** Prices that a user gives, all in one currency. */
export type Prices = {
  currency: string
  /** The newest price at or before an instant (as the tables write it), at most 36 hours old; undefined where there is none. */
  at(asset: PricedAsset, time: string): string | undefined
  /** All prices of an asset, oldest first. */
  all(asset: PricedAsset): readonly Quote[]
}

type NamedAsset = PricedAsset & Pick<FungibleAsset, 'symbol'>

/** A price of a day, which stands for its first second, holds until noon of the next. */
const MAX_AGE_MS = 36 * 3_600_000

const COLUMNS = ['date', 'asset', 'currency', 'price'] as const

/**
 * Reads prices from CSV with the columns `date` (a UTC day or instant), `asset` (a contract, `native`, or a symbol that one
 * asset alone has), `currency` and `price`; a record without a price is one that nobody has filled in. Throws USAGE for what
 * cannot be read, two prices of one instant, or two currencies. `assetsOf` gives what symbols may stand for; it is asked only
 * where the file has one.
 */
export async function readPrices(
  file: string,
  assetsOf: () => Promise<readonly NamedAsset[]>,
): Promise<Prices> {
  const quotes = new Map<string, Quote[]>()
  let currency: string | undefined
  const priced: CsvRecord[] = []
  await readRecords(file, COLUMNS, (record) => {
    if (record.cells.price !== '') priced.push(record)
  })
  const hasSymbols = priced.some(({ cells }) => !isCoinOrContract(cells.asset ?? ''))
  const assets = hasSymbols ? await assetsOf() : []
  for (const { line, cells } of priced) {
    const { date = '', asset = '', price = '' } = cells
    const error = (found: string, expected: string) => recordError({ file, line }, { found, expected })
    const from = parseUtc(date)
    if (from === undefined) throw error(`date ${date}`, '2024-03-31 or 2024-03-31T12:00:00Z, of UTC')
    if (!/^\d{1,60}(\.\d{1,60})?$/.test(price)) throw error(`price ${price}`, 'plain digits with a point')
    const code = (cells.currency ?? '').toUpperCase()
    if (!/^[A-Z]{2,10}$/.test(code)) throw error(`currency ${cells.currency}`, 'letters, as USD')
    currency ??= code
    if (currency !== code) throw error(`currency ${code}`, `${currency} as above`)
    const { key, matches } = priceKey(asset, assets)
    if (key === undefined) throw error(`asset ${asset}, which is ${matches.join(' and ')}`, 'its contract')
    const list = quotes.get(key) ?? []
    if (list.some((quote) => quote.from === from)) throw error(`a second price of ${asset}`, 'one an instant')
    quotes.set(key, [...list, { from, price }])
  }
  if (currency === undefined) throw new ExportError('USAGE', `${file} holds no price`, { fix: FILL_IN_FIX })
  for (const list of quotes.values()) list.sort((a, b) => a.from - b.from)
  return pricesFrom(quotes, currency)
}

const FILL_IN_FIX =
  'Fill in the column price; `walletlake convert OUTPUT --prices-needed` lists what is needed.'

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

/** The last of these, oldest first, that is not after the instant. */
function newestAt(quotes: readonly Quote[], instant: number): Quote | undefined {
  let [low, high] = [0, quotes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((quotes[middle]?.from ?? 0) <= instant) low = middle + 1
    else high = middle
  }
  return quotes[low - 1]
}

/** What a price file calls the chain's coin. */
export const NATIVE = 'native'

/** Whether an asset is named by its contract, or as the coin. */
const isCoinOrContract = (name: string) => name === NATIVE || ADDRESS.test(name)

/** A contract, `native`, or what a symbol stands for, if that is one asset. */
function priceKey(
  name: string,
  assets: readonly NamedAsset[],
): { key: string | undefined; matches: string[] } {
  if (isCoinOrContract(name)) return { key: name.toLowerCase(), matches: [] }
  const addresses = assets.filter(({ symbol }) => symbol === name).map(({ address }) => address ?? NATIVE)
  const matches = [...new Set(addresses)].sort()
  // A symbol that the export does not have prices nothing.
  return { key: matches.length > 1 ? undefined : (matches[0] ?? `symbol ${name}`), matches }
}
