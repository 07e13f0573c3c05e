import { csvLine } from '../../core/platform/csv-line.ts'

/** Saves rows as a CSV file. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  const text = rows.map((cells) => csvLine(cells.map((cell) => cell || null))).join('')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = `${name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}
