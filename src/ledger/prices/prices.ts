import { ADDRESS } from '../../core/model/address.ts'
import { type AssetType, isNft } from '../../core/model/asset.ts'
import { chainIdOf, parseChain } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import type { Dataset } from '../../read/dataset.ts'
import { describePlainNumber } from '../balances/declared-amounts.ts'

/** The fields that identify an asset in a price list. */
export type PricedAsset = {
  type: AssetType
  /** null for the native coin. */
  address: string | null
}

/** The name of the native coin in a price list. */
export const NATIVE = 'native'

/** The asset of a name: a contract, or `native`. */
export const pricedAssetOf = (name: string): PricedAsset =>
  name === NATIVE ? { type: 'native', address: null } : { type: 'erc20', address: name }

/** The native coin or an ERC-20 token. Its units are interchangeable, so one price applies to all of them. */
export type FungibleAsset = PricedAsset & {
  type: 'native' | 'erc20'
  symbol: string | null
  /** null if unknown. */
  decimals: number | null
  tokenId: null
}

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
  const lines = all.filter((line) => line.chain === chain)
  const hasSymbols = lines.some(({ asset }) => !isCoinOrContract(asset))
  const keyOf = priceKeys(hasSymbols ? await assetsOf() : [])
  const pricesByTime = new Map<string, Map<number, string>>()
  for (const { line, from, asset, price } of lines) {
    const { key, matches } = keyOf(asset)
    if (key === undefined)
      throw recordError(file, line, `asset ${asset}, the symbol of ${matches.join(' and ')}`, 'a contract')
    const times = pricesByTime.get(key) ?? new Map<number, string>()
    if (times.has(from)) throw recordError(file, line, `a second price of ${asset}`, 'one per instant')
    pricesByTime.set(key, times.set(from, price))
  }
  return pricesFrom(sortQuotes(pricesByTime), currency)
}

/** A record with a price. `from` is Unix time in milliseconds. */
type PriceLine = { line: number; chain: string; from: number; asset: string; price: string; currency: string }

/** Reads the records with a price. Those without a chain are of the chain `own`. */
async function readPriceLines(file: string, own: string): Promise<PriceLine[]> {
  const lines: PriceLine[] = []
  await readRecords(file, COLUMNS, ({ line, cells, error, expect }) => {
    const { date = '', asset = '', price = '' } = cells
    if (price === '') return
    const from = parseUtc(date) ?? Number.NaN
    expect('date', !Number.isNaN(from), '2024-03-31 or 2024-03-31T12:00:00Z, in UTC')
    expect('price', /^\d{1,60}(\.\d{1,60})?$/.test(price), describePlainNumber(price))
    const currency = (cells.currency ?? '').toUpperCase()
    expect('currency', /^[A-Z]{2,10}$/.test(currency), 'a code such as USD')
    const expected = lines[0]?.currency ?? currency
    if (currency !== expected) throw error(`currency ${currency}`, `${expected}, as in the lines above`)
    const chain = parseChain(chainCell(cells) || own, own) ?? ''
    expect('chain', chain !== '', 'an id such as 43114, a name such as avalanche, or nothing')
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

/** The chain of an export, with the assets of its ledger. */
export const pricedChainOf = (opened: Dataset): PricedChain => ({
  chain: chainIdOf(opened.manifest.job.chain),
  assetsOf: () => readFungibleAssets(opened),
})

/**
 * Reads the native coin and the ERC-20 tokens of an export's ledger, sorted by address, symbol and decimals. A contract
 * whose rows have several symbols or decimals has one entry for each.
 */
export async function readFungibleAssets({ collect, all, textSql }: Dataset): Promise<FungibleAsset[]> {
  const columns = `asset_address, ${textSql('asset_symbol')}, asset_decimals`
  await collect(
    'assets (address VARCHAR, symbol VARCHAR, decimals INTEGER)',
    'ledger',
    (source) => `SELECT DISTINCT ${columns} FROM ${source} WHERE asset_type IN ('native', 'erc20')`,
  )
  const rows = await all('SELECT DISTINCT * FROM assets ORDER BY address NULLS FIRST, symbol, decimals')
  return rows.map(({ address, symbol, decimals }) => ({
    type: address === null ? 'native' : 'erc20',
    address: address as string | null,
    symbol: symbol as string | null,
    decimals: decimals as number | null,
    tokenId: null,
  }))
}

/** Decimal places of a fiat value. */
export const FIAT_DECIMALS = 8

/**
 * Returns the fiat value of an amount: value / 10^decimals × price, multiplied exactly and rounded half to even to 8 decimal
 * places. `value` is in the asset's smallest unit. `price` is for one whole unit, in digits with an optional decimal point.
 */
export function fiatValueOf(value: bigint, decimals: number, price: string): string {
  return shiftDecimal(String(exactFiatValue(value, decimals, price)), FIAT_DECIMALS) ?? ''
}

/** Returns the same value as an integer in units of 10^-8, for summing. */
export function exactFiatValue(value: bigint, decimals: number, price: string): bigint {
  const [whole = '', fraction = ''] = price.split('.')
  const digits = value * BigInt(whole + fraction)
  const dropped = decimals + fraction.length - FIAT_DECIMALS
  return digits < 0n ? -roundHalfEven(-digits, dropped) : roundHalfEven(digits, dropped)
}

/** An amount of an asset, in its smallest unit, not negative. */
type Amount = { value: bigint; decimals: number }

/** Decimal places of an implied price. More than for values, because one unit of some tokens is worth very little. */
const PRICE_DECIMALS = 18

/**
 * Returns the price of one whole unit of the acquired asset of a swap, given the price of the disposed asset: the fiat
 * value of `disposed` divided by the acquired units, rounded half to even to 18 decimal places. Undefined if a price
 * above zero rounds to zero.
 */
export function impliedPrice(acquired: Amount, disposed: Amount, price: string): string | undefined {
  const [whole = '', fraction = ''] = price.split('.')
  const fiatValue =
    disposed.value * BigInt(whole + fraction) * 10n ** BigInt(acquired.decimals + PRICE_DECIMALS)
  const units = acquired.value * 10n ** BigInt(disposed.decimals + fraction.length)
  const digits = units === 0n ? 0n : divideHalfEven(fiatValue, units)
  if (digits === 0n && fiatValue > 0n) return undefined
  return shiftDecimal(String(digits), PRICE_DECIMALS) ?? undefined
}

/** Divides a non-negative number by 10^dropped, rounding half to even. A negative `dropped` multiplies instead. */
function roundHalfEven(digits: bigint, dropped: number): bigint {
  if (dropped <= 0) return digits * 10n ** BigInt(-dropped)
  return divideHalfEven(digits, 10n ** BigInt(dropped))
}

/** Divides non-negative numbers, rounding half to even. */
function divideHalfEven(digits: bigint, divisor: bigint): bigint {
  const [quotient, doubledRemainder] = [digits / divisor, (digits % divisor) * 2n]
  return doubledRemainder > divisor || (doubledRemainder === divisor && quotient % 2n === 1n)
    ? quotient + 1n
    : quotient
}
