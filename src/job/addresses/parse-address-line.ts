import type { ReportDiagnostic } from '../diagnostics.ts'
import { freeTextExpected, isFreeText } from '../fields/field-type.ts'
import { quoted } from '../resolve/raw-value.ts'
import { addressProblem } from './address.ts'
import type { Line } from './read-lines.ts'
import { MAX_LABEL_CHARACTERS, type WalletEntry } from './wallet-set.ts'

/** The layout of an addresses file; `none` if the header is invalid, so that no line can be parsed. */
export type AddressFileLayout = {
  readonly columns: 'one a line' | 'address' | 'address,label' | 'none'
  readonly separator: Separator
}

/** A line of an addresses file that is neither blank nor a comment. */
export type AddressLineContext = {
  readonly file: string
  readonly line: Line
  readonly report: ReportDiagnostic
}

/** Detects the layout from the first line, which is a header or already an address. */
export function detectLayout({ file, line, report }: AddressLineContext): AddressFileLayout {
  const text = 'text' in line ? line.text : ''
  const separator = SEPARATORS.find((each) => columnNames(text, each).includes('address'))
  if (separator === undefined)
    return { columns: 'one a line', separator: SEPARATORS.find((each) => text.includes(each)) ?? ',' }
  const header = columnNames(text, separator).join(',')
  if (header === 'address' || header === 'address,label') return { columns: header, separator }
  const found = `the header ${quoted(text)}`
  report({
    location: { file, line: line.number, column: 1 },
    found,
    expected: 'the header address or address,label',
  })
  return { columns: 'none', separator }
}

const SEPARATORS: readonly Separator[] = [',', ';', '\t']

function columnNames(text: string, separator: Separator): string[] {
  return (splitCsv(text, separator) ?? []).map((field) => field.text.toLowerCase())
}

/** Parses a line below the header. Returns undefined after reporting a diagnostic. */
export function parseAddressLine(
  context: AddressLineContext,
  { columns, separator }: AddressFileLayout,
): WalletEntry | undefined {
  const { line } = context
  if ('problem' in line) return reportInvalidLine(context, line.problem, 'a line of UTF-8 text')
  const fields = splitCsv(line.text, separator)
  if (fields === undefined)
    return reportInvalidLine(
      context,
      quoted(line.text),
      'a quoted field closed in its line, quotes in it doubled',
    )
  const [address, label, ...extraFields] = fields
  if (
    address === undefined ||
    extraFields.length > 0 ||
    (label !== undefined && columns !== 'address,label')
  ) {
    return reportInvalidLine(context, quoted(line.text), LINE_EXPECTED[columns])
  }
  return toEntry(context, address, label)
}

const LINE_EXPECTED: Readonly<Record<AddressFileLayout['columns'], string>> = {
  'one a line': 'one address per line, or address,label as the first line',
  address: 'one address per line, as the header states',
  'address,label': 'an address and a label, the label in quotes where it has a comma',
  none: 'a header',
}

function toEntry(
  context: AddressLineContext,
  address: CsvField,
  label: CsvField | undefined,
): WalletEntry | undefined {
  const location = { file: context.file, line: context.line.number, column: address.column }
  const problem = addressProblem(address.text)
  if (problem !== undefined) {
    context.report({ location, field: 'address', found: quoted(address.text), ...problem })
    return undefined
  }
  if (label === undefined || label.text === '')
    return { field: 'address', location, address: address.text, label: null }
  if (!isFreeText(label.text, MAX_LABEL_CHARACTERS)) {
    const expected = freeTextExpected(MAX_LABEL_CHARACTERS)
    context.report({
      location: { ...location, column: label.column },
      field: 'label',
      found: quoted(label.text),
      expected,
    })
  }
  return { field: 'address', location, address: address.text, label: label.text }
}

function reportInvalidLine(
  { file, line, report }: AddressLineContext,
  found: string,
  expected: string,
): undefined {
  report({ location: { file, line: line.number, column: 1 }, field: 'address', found, expected })
}

type CsvField = {
  readonly text: string
  /** Column of the line at which the field starts, from 1. */
  readonly column: number
}

/** Field separator: a comma, or one that spreadsheets write in locales with a decimal comma. */
type Separator = ',' | ';' | '\t'

/**
 * Splits one line of CSV (RFC 4180) into fields. Quoted fields may contain separators, and doubled quotes for quotes.
 * Blanks around an unquoted field are removed. Returns undefined if a quote is not closed or is followed by text.
 */
function splitCsv(line: string, separator: Separator): readonly CsvField[] | undefined {
  const fields: CsvField[] = []
  const field = FIELD[separator]
  for (let start = 0; start <= line.length; ) {
    field.lastIndex = start
    const [match = '', inQuotes, plain = ''] = field.exec(line) ?? []
    const end = start + match.length
    if (end < line.length && line[end] !== separator) return undefined
    if (inQuotes === undefined && plain.includes('"')) return undefined
    const blanks = match.length - match.trimStart().length
    fields.push({ text: inQuotes?.replaceAll('""', '"') ?? plain.trim(), column: start + blanks + 1 })
    start = end + 1
  }
  return fields
}

const FIELD: Readonly<Record<Separator, RegExp>> = {
  ',': /[ \t]*"((?:[^"]|"")*)"[ \t]*|([^,]*)/y,
  ';': /[ \t]*"((?:[^"]|"")*)"[ \t]*|([^;]*)/y,
  '\t': / *"((?:[^"]|"")*)" *|([^\t]*)/y,
}
