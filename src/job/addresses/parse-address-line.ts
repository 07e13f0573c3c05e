import type { Complain } from '../diagnostics.ts'
import { freeTextExpected, isFreeText } from '../fields/field-type.ts'
import { quoted } from '../resolve/raw-value.ts'
import { faultOfAddress } from './address.ts'
import type { Line } from './read-lines.ts'
import { type CsvField, type Separator, splitCsv } from './split-csv.ts'
import { type Entry, LABEL_CHARACTERS } from './wallet-set.ts'

/** How an addresses file is laid out; `none` where its header is wrong and no line can be understood. */
export type Layout = {
  readonly columns: 'one a line' | 'address' | 'address,label' | 'none'
  readonly separator: Separator
}

/** A line of an addresses file, which is neither blank nor a comment. */
export type AddressLine = { readonly file: string; readonly line: Line; readonly complain: Complain }

/** The layout that the first line tells: a header, or an address already. */
export function layoutOf({ file, line, complain }: AddressLine): Layout {
  const text = 'text' in line ? line.text : ''
  const separator = SEPARATORS.find((each) => namesOf(text, each).includes('address'))
  if (separator === undefined)
    return { columns: 'one a line', separator: SEPARATORS.find((each) => text.includes(each)) ?? ',' }
  const header = namesOf(text, separator).join(',')
  if (header === 'address' || header === 'address,label') return { columns: header, separator }
  const found = `the header ${quoted(text)}`
  complain({
    place: { file, line: line.number, column: 1 },
    found,
    expected: 'the header address or address,label',
  })
  return { columns: 'none', separator }
}

const SEPARATORS: readonly Separator[] = [',', ';', '\t']

function namesOf(text: string, separator: Separator): string[] {
  return (splitCsv(text, separator) ?? []).map((field) => field.text.toLowerCase())
}

/** The wallet that a line below the header names; undefined after a complaint. */
export function parseAddressLine(at: AddressLine, { columns, separator }: Layout): Entry | undefined {
  const { line } = at
  if ('refused' in line) return refuse(at, line.refused, 'a line of UTF-8 text')
  const fields = splitCsv(line.text, separator)
  if (fields === undefined)
    return refuse(at, quoted(line.text), 'a quoted field closed in its line, quotes in it doubled')
  const [address, label, ...more] = fields
  if (address === undefined || more.length > 0 || (label !== undefined && columns !== 'address,label')) {
    return refuse(at, quoted(line.text), LINE_EXPECTED[columns])
  }
  return entryOf(at, address, label)
}

const LINE_EXPECTED: Readonly<Record<Layout['columns'], string>> = {
  'one a line': 'one address a line, or address,label as the first line',
  address: 'one address a line, as the header says',
  'address,label': 'an address and a label, the label in quotes where it has a comma',
  none: 'a header',
}

function entryOf(at: AddressLine, address: CsvField, label: CsvField | undefined): Entry | undefined {
  const place = { file: at.file, line: at.line.number, column: address.column }
  const fault = faultOfAddress(address.text)
  if (fault !== undefined) {
    at.complain({ place, field: 'address', found: quoted(address.text), ...fault })
    return undefined
  }
  if (label === undefined || label.text === '')
    return { field: 'address', place, address: address.text, label: null }
  if (!isFreeText(label.text, LABEL_CHARACTERS)) {
    const expected = freeTextExpected(LABEL_CHARACTERS)
    at.complain({
      place: { ...place, column: label.column },
      field: 'label',
      found: quoted(label.text),
      expected,
    })
  }
  return { field: 'address', place, address: address.text, label: label.text }
}

function refuse({ file, line, complain }: AddressLine, found: string, expected: string): undefined {
  complain({ place: { file, line: line.number, column: 1 }, field: 'address', found, expected })
}
