import type { Cell, Row } from 'write-excel-file/node'
import { ExportError } from '../model/errors.ts'

/**
 * The cells of a column: text, exact decimal numbers, UTC instants (ISO 8601), or numbers that a spreadsheet may round:
 * amounts with up to eight decimals, and money with two.
 */
export type SheetColumn = { name: string; kind: 'text' | 'number' | 'time' | 'amount' | 'money' }

export type Sheet = {
  name: string
  columns: readonly SheetColumn[]
  rows: readonly (readonly (string | null)[])[]
  /** Bold rows below the others, which the filter leaves out. @default none */
  totals?: readonly (readonly (string | null)[])[]
  /** Lines of text at the end. @default none */
  notes?: readonly string[]
  /** Maximum number of printed pages. @default as many as the rows need */
  maxPages?: number
}

/** Maximum number of rows of a sheet. The library keeps all cells in memory, about 9 KB a row. */
const MAX_ROWS = 150_000

/**
 * Returns the bytes of an XLSX workbook. Numbers with more than 15 significant digits are text, because a spreadsheet
 * stores numbers as doubles; so are addresses, hashes and text that resembles a formula. Times are real dates. The header of
 * each sheet is frozen, has a filter, and is repeated on every printed page; pages are landscape and as wide as the sheet. The
 * same sheets give the same bytes. Throws USAGE if a sheet has too many rows.
 */
export async function xlsxBytes(sheets: readonly Sheet[]): Promise<Buffer> {
  for (const { rows } of sheets) requireSheetRows(rows.length)
  const { default: writeXlsxFile } = await import('write-excel-file/node')
  const workbook = writeXlsxFile(
    sheets.map(({ name, columns, rows, totals = [], notes = [] }) => ({
      sheet: name,
      data: [
        columns.map(headerCell),
        ...rows.map((row) => cellsOf(row, columns)),
        ...totals.map((row) => cellsOf(row, columns).map(boldCell)),
        ...notes.map((note): Row => [textCell(note)]),
      ],
      columns: columns.map((column, at) => ({ width: widthOf(column, [...totals, ...rows], at) })),
      stickyRowsCount: 1,
    })),
    { features: [printLayout(sheets)] },
  )
  return withFixedTimes(await workbook.toBuffer())
}

/** Throws USAGE if a sheet cannot have this number of rows. */
export function requireSheetRows(rows: number): void {
  if (rows <= MAX_ROWS) return
  throw new ExportError('USAGE', `a sheet can have at most ${MAX_ROWS} rows`, {
    fix: 'Use CSV, or a shorter period.',
  })
}

/** The margins of a printed page, in inches. */
const MARGINS = '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.2" footer="0.2"/>'

/** Adds filters, and how sheets are printed, to the files of a workbook (ISO/IEC 29500-1, 18.3.1 and 18.2.6). */
function printLayout(sheets: readonly Sheet[]) {
  return {
    files: {
      transform: {
        'xl/worksheets/sheet{id}.xml': {
          transform: (xml: string, _: unknown, { sheetIndex }: { sheetIndex: number }) => {
            const sheet = sheets[sheetIndex]
            if (sheet === undefined) return xml
            const setup = `<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="${sheet.maxPages ?? 0}"/>`
            const footer =
              '<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter>'
            return xml
              .replace(/<worksheet[^>]*>/, '$&<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>')
              .replace('</sheetData>', `$&<autoFilter ref="${filterRange(sheet, '')}"/>`)
              .replace('</worksheet>', `${MARGINS}${setup}${footer}$&`)
          },
        },
        'xl/workbook.xml': {
          transform: (xml: string) => {
            const names = sheets.map((sheet, at) => {
              const place = `'${sheet.name}'!`
              return (
                `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">${place}${filterRange(sheet, '$')}</definedName>` +
                `<definedName name="_xlnm.Print_Titles" localSheetId="${at}">${place}$1:$1</definedName>`
              )
            })
            // The library writes an empty element, and there must be one only.
            return xml.replace('<definedNames/>', () => `<definedNames>${names.join('')}</definedNames>`)
          },
        },
      },
    },
  }
}

/** The header and the rows, without totals. `$` makes the range absolute. */
const filterRange = ({ columns, rows }: Sheet, sign: '' | '$') =>
  `${sign}A${sign}1:${sign}${columnName(columns.length)}${sign}${rows.length + 1}`

/** The letters of a column, whose number starts at 1: `Z`, `AA`. */
function columnName(number: number): string {
  const letter = String.fromCharCode(65 + ((number - 1) % 26))
  return number <= 26 ? letter : columnName(Math.floor((number - 1) / 26)) + letter
}

const boldCell = (cell: Cell): Cell => {
  if (cell === null || cell === undefined) return cell
  return typeof cell === 'object' && !(cell instanceof Date)
    ? { ...cell, fontWeight: 'bold' }
    : { value: String(cell), type: String, fontWeight: 'bold' }
}

/** Numbers are at the right of their column, and so is its header. */
const headerCell = ({ name, kind }: SheetColumn): Cell => ({
  value: name,
  type: String,
  fontWeight: 'bold',
  align: kind === 'text' || kind === 'time' ? 'left' : 'right',
})

const cellsOf = (row: readonly (string | null)[], columns: readonly SheetColumn[]): Row =>
  columns.map(({ kind }, at) => {
    const text = row[at] ?? ''
    return text === '' ? null : CELLS[kind](text)
  })

const TIME_FORMAT = 'yyyy-mm-dd hh:mm:ss'
/** Without a format that has them, a spreadsheet rounds milliseconds up to the next second. */
const timeFormat = (text: string) => (/\.(?!000Z)\d/.test(text) ? `${TIME_FORMAT}.000` : TIME_FORMAT)

const CELLS: Readonly<Record<SheetColumn['kind'], (text: string) => Cell>> = {
  text: (text) => textCell(text),
  number: (text) =>
    isExactDouble(text)
      ? { value: Number(text), type: Number, format: numberFormat(text) }
      : textCell(text, 'right'),
  time: (text) => {
    const date = new Date(text)
    return Number.isNaN(date.getTime())
      ? textCell(text)
      : { value: date, type: Date, format: timeFormat(text) }
  },
  amount: (text) => roundedCell(text, '#,##0.00######'),
  money: (text) => roundedCell(text, '#,##0.00'),
}

/** A number of which a spreadsheet keeps 15 digits. Other text, such as a count, stays text. */
function roundedCell(text: string, format: string): Cell {
  return DECIMAL.test(text) ? { value: Number(text), type: Number, format } : textCell(text, 'right')
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?$/

/** Whether a spreadsheet shows all digits of a number: it computes with 15 significant digits. */
export function isExactDouble(text: string): boolean {
  const [, whole = '', fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === '' || fraction.length > MAX_DIGITS) return false
  return (whole + fraction).replace(/^0+/, '').length <= MAX_DIGITS
}

const MAX_DIGITS = 15

/** A format that shows all decimals of a number. The general format rounds and uses exponents. */
function numberFormat(text: string): string {
  const decimals = text.split('.')[1]?.length ?? 0
  return decimals === 0 ? '0' : `0.${'0'.repeat(decimals)}`
}

/** The format of digits that are text. Without it, a spreadsheet converts them when a user edits their cells. */
const TEXT_FORMAT = '@'
const NUMERIC = /^[+-]?[\d.]+(e[+-]?\d+)?$/i
/**
 * Texts such as `constructor`, which get a space at the end: the library looks up texts in a plain object, where it would
 * find what all objects inherit.
 */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))
/** Maximum length of a text in a spreadsheet. */
const MAX_TEXT = 32_767

/**
 * Characters that are written as `_xHHHH_`, with their code (ISO/IEC 29500-1, 22.9.2.19, ST_Xstring): those that XML cannot hold
 * or would change, and the underscore of text that already looks like this.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters
const ESCAPED = /[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[\da-f]{4}_)/gi

const escapeCharacter = (character: string): string =>
  `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`

function textCell(text: string, align?: 'right'): Cell {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text
  const value = INHERITED.has(cut) ? `${cut} ` : cut.replace(ESCAPED, escapeCharacter)
  const style = align === undefined ? {} : { align }
  if (NUMERIC.test(value)) return { value, type: String, format: TEXT_FORMAT, ...style }
  return align === undefined ? value : { value, type: String, align }
}

const [MIN_WIDTH, MAX_WIDTH, SAMPLE_ROWS] = [8, 45, 100]

/** The width of a column in characters, from its header and its first rows. */
function widthOf({ name, kind }: SheetColumn, rows: Sheet['rows'], at: number): number {
  const lengths = rows.slice(0, SAMPLE_ROWS).map((row) => row[at]?.length ?? 0)
  const longest = kind === 'time' ? TIME_FORMAT.length : lengths.reduce((a, b) => Math.max(a, b), 0)
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, name.length, longest) + 2)
}

/** 1980-01-01 00:00, the first time that a zip archive can hold. */
const FIXED_TIME = 0x00210000

/** Replaces the times of all entries of a zip archive, which are those of its creation. */
function withFixedTimes(zip: Buffer): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  const entries = zip.readUInt16LE(end + 10)
  let entry = zip.readUInt32LE(end + 16)
  for (let at = 0; at < entries; at += 1) {
    zip.writeUInt32LE(FIXED_TIME, entry + 12)
    zip.writeUInt32LE(FIXED_TIME, zip.readUInt32LE(entry + 42) + 10)
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(entry + offset))
    entry += 46 + (name ?? 0) + (extra ?? 0) + (comment ?? 0)
  }
  return zip
}
