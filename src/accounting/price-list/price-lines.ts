import { csvRows } from '../../core/platform/csv-rows.ts'
import { readRecords } from '../../read/csv-records.ts'
import { comparePrices } from '../prices-needed.ts'

/** The columns of a price file. Those after `price` say where the price comes from; conversions do not use them. */
const COLUMNS = ['date', 'asset', 'currency', 'price', 'symbol', 'source', 'transaction', 'time'] as const

/** A line of a price file, by column name. Lines of a user's file may have further columns. */
export type PriceLine = Partial<Record<(typeof COLUMNS)[number], string>> & { date: string; asset: string }

/** Reads the lines of a price file that have a price, unchanged. Throws USAGE as `readRecords` does. */
export async function readPricedLines(file: string): Promise<PriceLine[]> {
  const lines: PriceLine[] = []
  await readRecords(file, ['date', 'asset', 'currency', 'price'], ({ cells }) => {
    const { date = '', asset = '' } = cells
    if (cells.price !== '') lines.push({ ...cells, date, asset })
  })
  return lines
}

/** Returns the text of a price file, sorted by day and asset. */
export function priceFileText(lines: readonly PriceLine[]): string {
  const columns = new Set<string>([...COLUMNS, ...lines.flatMap((line) => Object.keys(line))])
  const rows = [...lines].sort(comparePrices).map((line) => {
    const cells = new Map(Object.entries(line))
    return [...columns].map((name) => cells.get(name) || null)
  })
  return csvRows([[...columns], ...rows])
}
