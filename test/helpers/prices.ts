import { writeFileSync } from 'node:fs'
import { pricesNeeded } from '../../src/accounting/needed.ts'

/** Writes a CSV file with a price for every day and asset of an export. Resolves to its path. */
export async function writePrices(output: string, file: string): Promise<string> {
  const needed = await pricesNeeded(output)
  const lines = needed.map(({ date, asset }, at) => `${date},${asset},USD,${(at % 9) + 1}.25`)
  writeFileSync(file, ['date,asset,currency,price', ...lines, ''].join('\n'))
  return file
}
