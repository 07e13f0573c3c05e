import { inflateRawSync } from 'node:zlib'
import { ExportError } from '../../core/model/errors.ts'
import { DAY_MS, utcDay } from '../../core/model/utc.ts'
import { impliedPrice } from '../../ledger/prices/prices.ts'
import { parseCsv } from '../../read/csv-records.ts'
import { type HttpPrices, type RequestSearch, withRequests } from './http-prices.ts'

/**
 * Daily reference rates of the European Central Bank: one CSV file with the units of each currency for one euro, in a ZIP archive.
 * The file itself has an address too, but what is there ends in 2010.
 */
const ECB: HttpPrices = {
  name: 'ecb',
  title: 'the European Central Bank',
  baseUrl: 'https://www.ecb.europa.eu',
  baseUrlVariable: 'WALLETLAKE_ECB_URL',
  requestsPerMinute: 60,
}
const PATH = '/stats/eurofxref/eurofxref-hist.zip'

/** A rate holds over weekends and holidays, at most for this time. */
const MAX_AGE_MS = 10 * DAY_MS

export type ExchangeRates = {
  /**
   * Converts a price of a day, rounded half to even to 18 decimal places. Undefined if there is no rate of the day or
   * of the ten days before. Throws USAGE for a currency that the bank does not list, and PAGE_MALFORMED for a day after its last.
   */
  convert(price: string, from: string, to: string, date: string): Converted | undefined
}

/** `rateDay` is the day of the rate. */
type Converted = { price: string; rateDay: string }

/** Requests the rates of all days. */
export async function requestRates(search: RequestSearch): Promise<ExchangeRates> {
  let rows: string[][] = []
  await withRequests(ECB, search, async (get) => {
    rows = await get(PATH, readRates, [])
  })
  const [header = [], ...days] = rows
  const columns = header.map((name) => name.trim())
  const rowOf = new Map(days.map((row) => [row[0] ?? '', row]))
  const newest = [...rowOf.keys()].sort().at(-1) ?? ''
  const columnOf = (currency: string): number | undefined => {
    if (currency === 'EUR') return undefined
    const at = columns.indexOf(currency)
    if (at > 0) return at
    throw new ExportError('USAGE', `the European Central Bank states no rates of ${currency}`, {
      fix: 'Use --currency with one that it lists, such as eur, usd, gbp or chf.',
    })
  }
  /** The newest day with a rate of both currencies. */
  const rateDay = (date: string, at: readonly (number | undefined)[]): string | undefined => {
    for (let ms = Date.parse(date); ms >= Date.parse(date) - MAX_AGE_MS; ms -= DAY_MS) {
      const row = rowOf.get(utcDay(ms))
      if (row !== undefined && at.every((column) => column === undefined || RATE.test(row[column] ?? '')))
        return utcDay(ms)
    }
    return undefined
  }
  return {
    convert: (price, from, to, date) => {
      const [fromColumn, toColumn] = [columnOf(from), columnOf(to)]
      const day = rateDay(date, [fromColumn, toColumn])
      if (day === undefined && Date.parse(date) - Date.parse(newest) > MAX_AGE_MS)
        throw new ExportError('PAGE_MALFORMED', `the rates of the European Central Bank end on ${newest}`, {
          fix: `Use --currency ${from.toLowerCase()}, or try again later.`,
        })
      if (day === undefined) return undefined
      const rate = (column: number | undefined) =>
        amountOf(column === undefined ? '1' : (rowOf.get(day)?.[column] ?? ''))
      const converted = impliedPrice(rate(fromColumn), rate(toColumn), price)
      return converted === undefined ? undefined : { price: converted, rateDay: day }
    },
  }
}

const RATE = /^(?=.*[1-9])\d{1,12}(\.\d{1,12})?$/

function amountOf(rate: string): { value: bigint; decimals: number } {
  const [whole = '', fraction = ''] = rate.split('.')
  return { value: BigInt(whole + fraction), decimals: fraction.length }
}

function readRates(body: Buffer): string[][] {
  try {
    const rows = parseCsv(firstEntryOf(body).toString('utf8'))
    if (rows[0]?.[0] === 'Date' && rows.length > 1) return rows
  } catch {
    // As for a file of another kind.
  }
  throw new ExportError('PAGE_MALFORMED', 'the answer is no file of exchange rates')
}

/** Far above the size of the rates, which are less than 1 MB. */
const MAX_RATES_BYTES = 64 * 1024 * 1024
const LOCAL_HEADER_BYTES = 30
const DEFLATED = 8

/** The first file of a ZIP archive (APPNOTE 4.3.7). What follows its compressed data is not read. */
function firstEntryOf(archive: Buffer): Buffer {
  const isArchive = archive.toString('latin1', 0, 4) === 'PK\x03\x04' && archive.readUInt16LE(8) === DEFLATED
  if (!isArchive) throw new ExportError('PAGE_MALFORMED', 'the answer is no ZIP archive')
  const nameBytes = archive.readUInt16LE(26)
  const extraBytes = archive.readUInt16LE(28)
  const compressed = archive.subarray(LOCAL_HEADER_BYTES + nameBytes + extraBytes)
  return inflateRawSync(compressed, { maxOutputLength: MAX_RATES_BYTES })
}
