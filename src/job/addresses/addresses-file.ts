import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Wallet } from '../../core/model/model.ts'
import { asUtf8, INVALID_UTF8, MISSING_BOM, TEXT_EXPECTED } from '../../core/platform/text-encoding.ts'
import {
  type Diagnostic,
  invalidValue,
  quoted,
  type RawValue,
  type ReportDiagnostic,
} from '../diagnostics.ts'
import { freeTextExpected, isFreeText } from '../fields/field-type.ts'
import { describeReadError, type FileProblem, readEncoding, validateFile } from '../yaml/read-job-text.ts'
import { addressProblem } from './address.ts'
import {
  addWallet,
  MAX_LABEL_CHARACTERS,
  sortedWallets,
  type WalletEntry,
  type WalletSet,
} from './addresses.ts'

/** Maximum size of an addresses file in bytes, enough for about 1.4 million addresses. */
const MAX_ADDRESSES_FILE_BYTES = 64 * 1024 * 1024

/**
 * Reads the wallets of an addresses file, sorted by address.
 *
 * The file is read line by line, so only the wallets themselves take memory. The first 20 diagnostics are reported with
 * file and line; the others are only counted.
 *
 * @param raw the field that names the file, for diagnostics about the whole file
 * @param path absolute, or relative to the job file
 */
export async function readAddressesFile(
  raw: RawValue,
  path: string,
  jobFile: string,
  report: ReportDiagnostic,
): Promise<readonly Wallet[]> {
  const file = isAbsolute(path) ? path : join(dirname(jobFile), path)
  const wallets: WalletSet = new Map()
  const first: Diagnostic[] = []
  let count = 0
  const reportLine = (diagnostic: Diagnostic) => {
    count += 1
    if (count <= MAX_FILE_DIAGNOSTICS) first.push(diagnostic)
  }
  const problem =
    (await validateFile(file, MAX_ADDRESSES_FILE_BYTES)) ??
    (await addWalletLines(wallets, file, reportLine).catch(describeReadError))
  if (problem !== undefined) report(invalidValue(raw, { ...problem, found: `${problem.found}: ${file}` }))
  else if (wallets.size === 0 && count === 0) report(invalidValue(raw, 'a file with at least one address'))
  for (const [index, diagnostic] of first.entries())
    report(index === first.length - 1 ? { ...diagnostic, more: count - first.length } : diagnostic)
  return sortedWallets(wallets)
}

const MAX_FILE_DIAGNOSTICS = 20

/** Adds the wallets of all lines. Returns the problem if the file as a whole cannot be read. */
async function addWalletLines(
  wallets: WalletSet,
  file: string,
  report: ReportDiagnostic,
): Promise<FileProblem | undefined> {
  const encoding = await readEncoding(file)
  if (encoding === 'unmarked') return { found: MISSING_BOM, expected: TEXT_EXPECTED }
  let layout: Layout | undefined
  for await (const line of readLines(asUtf8(createReadStream(file), encoding))) {
    if ('text' in line && SKIPPED_LINE.test(line.text)) continue
    const reportAt: ReportAt = (problem, column = 1) => {
      report({ location: { file, line: line.number, column }, ...problem })
    }
    const isFirst = layout === undefined
    layout ??= detectLayout(line, reportAt)
    if (layout.columns === 'none') return undefined
    if (isFirst && layout.columns !== 'one a line') continue
    const entry = parseLine(line, layout, reportAt)
    if (entry === undefined) continue
    const { column, ...wallet } = entry
    addWallet(wallets, { ...wallet, location: { file, line: line.number, column } }, report)
  }
  return undefined
}

type ReportAt = (problem: Pick<Diagnostic, 'field' | 'found' | 'expected'>, column?: number) => undefined

/** Blank lines, comments, and the `sep=` line that some spreadsheets write first. */
const SKIPPED_LINE = /^\s*(#|$)|^sep=.$/

/** The layout of an addresses file; `none` if the header is invalid, so that no line can be parsed. */
type Layout = {
  readonly columns: 'one a line' | 'address' | 'address,label' | 'none'
  readonly separator: Separator
}
/** Field separator: a comma, or one that spreadsheets write in locales with a decimal comma. */
type Separator = ',' | ';' | '\t'
const SEPARATORS: readonly Separator[] = [',', ';', '\t']

/** Detects the layout from the first line, which is a header or already an address. */
function detectLayout(line: Line, reportAt: ReportAt): Layout {
  const text = 'text' in line ? line.text : ''
  const namesBy = (separator: Separator) =>
    (splitCsv(text, separator) ?? []).map((field) => field.text.toLowerCase())
  const separator = SEPARATORS.find((each) => namesBy(each).includes('address'))
  if (separator === undefined)
    return { columns: 'one a line', separator: SEPARATORS.find((each) => text.includes(each)) ?? ',' }
  const header = namesBy(separator).join(',')
  if (header === 'address' || header === 'address,label') return { columns: header, separator }
  reportAt({ found: `the header ${quoted(text)}`, expected: 'the header address or address,label' })
  return { columns: 'none', separator }
}

/** Parses a line below the header. Returns undefined after reporting a diagnostic. */
function parseLine(
  line: Line,
  { columns, separator }: Layout,
  reportAt: ReportAt,
): (Omit<WalletEntry, 'location'> & { column: number }) | undefined {
  const field = 'address'
  const reject = (found: string, expected: string): undefined => reportAt({ field, found, expected })
  if ('problem' in line) return reject(line.problem, 'a line of UTF-8 text')
  const fields = splitCsv(line.text, separator)
  if (fields === undefined)
    return reject(quoted(line.text), 'a quoted field closed in its line, quotes in it doubled')
  const [address, label, ...extraFields] = fields
  const hasExtra = extraFields.length > 0 || (label !== undefined && columns !== 'address,label')
  if (address === undefined || hasExtra) return reject(quoted(line.text), LINE_EXPECTED[columns])
  const problem = addressProblem(address.text)
  if (problem !== undefined)
    return reportAt({ field, found: quoted(address.text), ...problem }, address.column)
  const entry = { field, address: address.text, label: label?.text || null, column: address.column }
  if (label !== undefined && entry.label !== null && !isFreeText(label.text, MAX_LABEL_CHARACTERS)) {
    const expected = freeTextExpected(MAX_LABEL_CHARACTERS)
    reportAt({ field: 'label', found: quoted(label.text), expected }, label.column)
  }
  return entry
}

const LINE_EXPECTED: Readonly<Record<Layout['columns'], string>> = {
  'one a line': 'one address per line, or address,label as the first line',
  address: 'one address per line, as the header states',
  'address,label': 'an address and a label, the label in quotes where it has a comma',
  none: 'a header',
}

/** A field of a line, and the column at which it starts, from 1. */
type CsvField = { readonly text: string; readonly column: number }

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

/** One line without its line end. `problem` states why its text is not available. */
type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: string }

/** Maximum length of a line in bytes. An address with the longest label needs a fortieth of it. */
const MAX_LINE_BYTES = 64 * 1024

/**
 * Splits bytes into lines, numbered from 1, at `\n` or `\r\n`; a byte order mark at the start is removed.
 *
 * Buffers one line at a time, and only the first bytes of a line that is too long.
 */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line, void, void> {
  let number = 0
  let partial: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      number += 1
      yield decodeLine(number, appendBytes(partial, chunk.subarray(start, end)))
      partial = Buffer.alloc(0)
      start = end + 1
    }
    partial = appendBytes(partial, chunk.subarray(start))
  }
  if (partial.length > 0) yield decodeLine(number + 1, partial)
}

const NEWLINE = 0x0a

/** Concatenates two parts of a line, truncated one byte above the limit so that `decodeLine` detects the excess. */
function appendBytes(partial: Buffer, rest: Buffer): Buffer {
  const part = rest.subarray(0, MAX_LINE_BYTES + 1 - partial.length)
  return partial.length === 0 ? Buffer.from(part) : Buffer.concat([partial, part])
}

function decodeLine(number: number, bytes: Buffer): Line {
  if (bytes.length > MAX_LINE_BYTES) return { number, problem: `a line of more than ${MAX_LINE_BYTES} bytes` }
  if (!isUtf8(bytes)) return { number, problem: INVALID_UTF8 }
  const text = bytes.toString('utf8').replace(/\r$/, '')
  return { number, text: number === 1 ? text.replace(/^\ufeff/, '') : text }
}
