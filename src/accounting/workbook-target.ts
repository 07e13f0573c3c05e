import { ExportError } from '../core/model/errors.ts'
import { requireSheetRows, type SheetColumn, xlsxBytes } from '../core/platform/xlsx.ts'
import { parseCsv } from '../read/csv-records.ts'
import type { Preset, Role } from './csv/preset.ts'
import type { ConvertOptions } from './options.ts'
import { PRESETS } from './presets/index.ts'
import type { TextChunk } from './text-writer.ts'

/**
 * Returns the preset of a workbook. Throws USAGE if the format is for a program, which reads text, or if nothing
 * receives the workbook.
 */
export function requireWorkbookPreset({ to, out, writeBytes }: ConvertOptions): Preset {
  const preset = PRESETS.find(({ name }) => name === to)
  const names = PRESETS.filter(({ isForPeople }) => isForPeople).map(({ name }) => name)
  if (preset?.isForPeople !== true)
    throw new ExportError('USAGE', `${to} is read by a program, which expects text and not a workbook`, {
      fix: `Omit --format xlsx and name a file that does not end in .xlsx, or use --to ${names.join(' or ')}.`,
    })
  if (out !== undefined || writeBytes !== undefined) return preset
  throw new ExportError('USAGE', '--format xlsx writes a file', { fix: 'Name the file with --out.' })
}

/** Collects the CSV text of workbooks by path, and finally passes them to `addBytes`. */
export function openWorkbooks(
  options: ConvertOptions,
  { header, addBytes }: { header: string; addBytes: (path: string, bytes: Buffer) => Promise<void> | void },
) {
  const { columns } = requireWorkbookPreset(options)
  const sheets = new Map<string, { parts: string[]; rows: number }>()
  const add = (path: string, { text, lines }: Pick<TextChunk, 'text' | 'lines'>) => {
    const sheet = sheets.get(path) ?? { parts: [header], rows: 0 }
    sheet.parts.push(text)
    sheet.rows += lines
    requireSheetRows(sheet.rows)
    sheets.set(path, sheet)
  }
  const end = async () => {
    for (const [path, { parts }] of sheets) {
      const [names = [], ...rows] = parseCsv(parts.join(''))
      const sheet = {
        name: options.to,
        columns: columns.map(([, role], at) => columnOf(role, names[at])),
        rows,
      }
      await addBytes(path, await xlsxBytes([sheet]))
    }
  }
  return { add, end }
}

const columnOf = (role: Role, name = ''): SheetColumn => ({
  name,
  kind: role === 'date' ? 'time' : NUMBERS.has(role) ? 'number' : 'text',
})

const NUMBERS: ReadonlySet<Role> = new Set<Role>([
  'amount',
  'quoteAmount',
  'inAmount',
  'outAmount',
  'feeAmount',
  'price',
  'worth',
  'inWorth',
  'outWorth',
  'feeWorth',
])
