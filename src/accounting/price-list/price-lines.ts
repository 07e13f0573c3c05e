import { parseChain } from '../../core/model/chains.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { readRecords } from '../../read/csv-records.ts'
import { comparePrices } from '../prices-needed.ts'

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
export async function readKeptLines(file: string, own: string): Promise<PriceLine[]> {
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
