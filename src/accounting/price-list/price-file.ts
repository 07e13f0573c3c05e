import { parseChain } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { utcDay } from '../../core/model/utc.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { pricedAssetOf, pricedChainOf, readPriceList } from '../../ledger/prices/prices.ts'
import { readRecords } from '../../read/csv-records.ts'
import { comparePrices, priceKey } from '../needed.ts'
import type { ConversionSource } from '../sources.ts'

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

/** What a price file contains already. */
export type KeptPrices = {
  /** The lines that have a price or are of another chain. */
  lines: PriceLine[]
  /** The names of the sources that state no price, by `priceKey` of the line. */
  asked: Map<string, Set<string>>
  /** The price of an asset, a contract or `native`, that is valid from an instant of this day. */
  priceOf(asset: string, date: string): string | undefined
}

/** Reads the file of prices; a file without prices has no currency yet. Throws USAGE for another currency. */
export async function readKeptPrices(
  { opened, chain }: ConversionSource,
  file: string | undefined,
  currency: string,
): Promise<KeptPrices> {
  if (file === undefined) return { lines: [], asked: new Map(), priceOf: () => undefined }
  const prices = await readPriceList(file, pricedChainOf(opened))
  if (prices !== undefined && prices.currency !== currency)
    throw new ExportError('USAGE', `${file} has prices in ${prices.currency}, not in ${currency}`, {
      fix: `Use --currency ${prices.currency.toLowerCase()}, or name another file with --out.`,
    })
  return {
    ...(await readKeptLines(file, chain)),
    priceOf: (asset, date) =>
      prices?.all(pricedAssetOf(asset)).find(({ from }) => utcDay(from) === date)?.price,
  }
}

/** The currency of a price file; undefined if it contains no price. */
export async function readFileCurrency(file: string): Promise<string | undefined> {
  let currency: string | undefined
  await readRecords(file, ['currency', 'price'], ({ cells }) => {
    if (cells.price !== '') currency ??= cells.currency?.toUpperCase()
  })
  return currency
}

/**
 * Reads the lines of a price file that have a price or are of another chain than `own`. Lines without a chain get this one,
 * so that prices of further chains can be added to the file; other cells do not change. Of the other lines, only the
 * sources that state no price are kept. Throws USAGE as `readRecords` does.
 */
async function readKeptLines(file: string, own: string): Promise<Pick<KeptPrices, 'lines' | 'asked'>> {
  const lines: PriceLine[] = []
  const asked: KeptPrices['asked'] = new Map()
  await readRecords(file, ['date', 'asset', 'currency', 'price'], ({ cells }) => {
    const { date = '', asset = '' } = cells
    const chain = cells.chain?.trim() || own
    if (cells.price !== '' || parseChain(chain, own) !== own) lines.push({ ...cells, date, chain, asset })
    else
      asked.set(
        priceKey({ date, chain: own, asset }),
        new Set(NOT_FOUND.exec(cells.source ?? '')?.[1]?.split(', ')),
      )
  })
  return { lines, asked }
}

const NOT_FOUND = /^not found: (.*)$/

/** The cell `source` of a line without a price, which later runs read; undefined if no source was asked. */
export const notFoundBy = (sources: ReadonlySet<string> = new Set()): string | undefined =>
  sources.size === 0 ? undefined : `not found: ${[...sources].join(', ')}`

/** Returns the text of a price file, sorted by day, chain and asset. */
export function priceFileText(lines: readonly PriceLine[]): string {
  const columns = new Set<string>([...COLUMNS, ...lines.flatMap((line) => Object.keys(line))])
  const rows = [...lines].sort(comparePrices).map((line) => {
    const cells = new Map(Object.entries(line))
    return [...columns].map((name) => cells.get(name) || null)
  })
  return csvRows([[...columns], ...rows])
}
