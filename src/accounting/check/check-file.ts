import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ExportError } from '../../core/model/errors.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { isFolder } from '../../core/platform/entry.ts'
import { openUserFile } from '../../core/platform/open-user-file.ts'
import { inputError } from '../../core/platform/user-file.ts'
import { readRawRecords } from '../../read/csv-records.ts'
import { isHeader, type MultiFileWriter, type Preset } from '../csv/preset.ts'
import { JOURNALS, MULTI_FILE_WRITERS, PRESETS } from '../formats.ts'
import { createBalanceCheck } from './check-balances.ts'
import { createCsvChecker, type FormatProblem, type Row } from './check-csv.ts'

/**
 * Checks a file, or the folder of a format with several files for all wallets, against the rules of a format and reports each
 * problem with its line. Returns the number of CSV rows or journal entries, counted as `convert` does. Throws USAGE if there is
 * no such format or a file cannot be read.
 */
export async function checkFile(
  file: string,
  to: string,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  const multiFile = MULTI_FILE_WRITERS.find(({ name }) => name === to)
  const isDirectory = await isFolder(file)
  if (isDirectory && multiFile?.isPerWallet === false) return checkFolder(file, multiFile.files, onProblem)
  if (isDirectory) throw folderError(file, multiFile)
  const preset = PRESETS.find(({ name }) => name === to)
  if (preset !== undefined) return checkBalancedCsv(file, preset, onProblem)
  if (multiFile !== undefined) return checkCsv(file, createSetChecker(multiFile), onProblem)
  if (!JOURNALS.some(({ name }) => name === to)) throw new ExportError('USAGE', `there is no format ${to}`)
  return checkJournal(file, createJournalChecker(to), onProblem)
}

/** Checks a file, and the balances that it leads to. */
async function checkBalancedCsv(
  file: string,
  preset: Preset,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  const balances = createBalanceCheck(preset)
  const rows = await checkCsv(file, createCsvChecker(preset), onProblem, (row) => balances.add(row, preset))
  for (const problem of balances.problems()) onProblem(problem)
  return rows
}

/** Checks the files of a format in a folder, and the balances that all of them lead to. */
async function checkFolder(
  folder: string,
  [first, ...others]: readonly Preset[],
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  if (first === undefined) return 0
  const balances = createBalanceCheck(first)
  let rows = 0
  for (const preset of [first, ...others]) {
    const file = join(folder, preset.file ?? '')
    const report = (problem: FormatProblem) => onProblem({ ...problem, file })
    rows += await checkCsv(file, createCsvChecker(preset), report, (row) => balances.add(row, preset, file))
  }
  for (const problem of balances.problems()) onProblem(problem)
  return rows
}

/** The error for a folder. For a format of several files, the fix names the files in it. */
function folderError(file: string, multiFile: MultiFileWriter | undefined): ExportError {
  const names = multiFile?.files.map((format) => format.file?.replace('{wallet}', '0x…'))
  const fix =
    names === undefined
      ? 'Name the file itself.'
      : `Name one of the files in it: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
  return new ExportError('USAGE', `${file} is a folder, and one file is checked at a time`, { fix })
}

/** Creates a checker for a format of several files. The header decides which of them is checked. */
function createSetChecker({ files }: MultiFileWriter): ReturnType<typeof createCsvChecker> {
  let checker: ReturnType<typeof createCsvChecker> | undefined
  return {
    check: (row) => {
      checker ??= createCsvChecker(bestMatch(files, row.cells))
      return checker.check(row)
    },
  }
}

function bestMatch(files: readonly Preset[], cells: readonly string[]): Preset {
  const similarity = ({ columns }: Preset) =>
    columns.filter(([header], at) => isHeader(cells[at], header)).length -
    Math.abs(columns.length - cells.length)
  return files.reduce((best, format) => (similarity(format) > similarity(best) ? format : best))
}

async function checkCsv(
  file: string,
  { check }: ReturnType<typeof createCsvChecker>,
  onProblem: (problem: FormatProblem) => void,
  onRow: (row: Row) => void = () => {},
): Promise<number> {
  let rows = 0
  await readRawRecords(file, (row) => {
    rows += 1
    if (rows > 1) onRow(row)
    for (const problem of check(row)) onProblem(problem)
  })
  if (rows === 0) onProblem({ line: 1, what: 'the file is empty' })
  return Math.max(0, rows - 1)
}

const JOURNAL_FIX = 'Name a journal.'

async function checkJournal(
  file: string,
  { check, end }: ReturnType<typeof createJournalChecker>,
  onProblem: (problem: FormatProblem) => void,
): Promise<number> {
  let [line, entries] = [0, 0]
  const input = await openUserFile(file, JOURNAL_FIX)
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line += 1
      if (ENTRY.test(text)) entries += 1
      for (const problem of check(text, line)) onProblem(problem)
    }
  } catch (cause) {
    throw cause instanceof ExportError ? cause : inputError(file, cause, JOURNAL_FIX)
  }
  for (const problem of end()) onProblem(problem)
  return entries
}

/** The first line of an entry. Directives of beancount start with a date too, but are not entries. */
const ENTRY =
  /^\d{4}[-/]\d{2}[-/]\d{2} (?!(open|close|commodity|price|balance|note|document|event|query|custom|pad)\b)/

type Entry = { line: number; sums: Map<string, { value: bigint; decimals: number }>; postings: number }

/** Checks a journal line by line: names are declared before use, dates are in order, and entries balance. */
function createJournalChecker(program: string): {
  check(text: string, line: number): FormatProblem[]
  end(): FormatProblem[]
} {
  const declared = new Set<string>()
  let day = ''
  let entry: Entry | undefined
  const end = () => {
    const ended = entry
    entry = undefined
    return ended === undefined ? [] : checkEntry(ended)
  }
  const startEntry = (date: string, line: number): FormatProblem[] => {
    const problems = end()
    entry = { line, sums: new Map(), postings: 0 }
    if (parseUtc(date) === undefined) return [...problems, { line, what: `invalid date ${date}` }]
    const isEarlier = date < day
    day = date
    return isEarlier ? [...problems, { line, what: `${date} is after an entry with a later date` }] : problems
  }
  return {
    check: (text, line) => {
      if (text.trim() === '' || /^[;#*]/.test(text)) return text.trim() === '' ? end() : []
      const directive = DIRECTIVES.map((pattern) => pattern.exec(text)?.[1]).find(
        (name) => name !== undefined,
      )
      if (directive !== undefined) {
        declared.add(directive.trim())
        return end()
      }
      if (isPrice(text) || OPTION.test(text)) return end()
      const date = /^(\d{4}-\d\d-\d\d)\s/.exec(text)?.[1]
      if (date !== undefined) return startEntry(date, line)
      return /^\s/.test(text)
        ? checkPosting({ text, line }, { entry, declared, program })
        : [{ line, what: UNKNOWN_LINE }]
    },
    end,
  }
}

const UNKNOWN_LINE = 'neither a directive, nor an entry, nor a posting'
const DIRECTIVES = [
  /^account (.+)$/,
  /^commodity (?:[\d.,]+ )?("[^"]+"|[^\s;]+)\s*$/,
  /^\d{4}-\d\d-\d\d open (\S+)/,
  /^\d{4}-\d\d-\d\d commodity (\S+)\s*$/,
]

/** Matches price directives: `P 2024-03-31 AVAX 18.34 USD`, or `2024-03-31 price AVAX 18.34 USD` in beancount. */
const isPrice = (text: string) =>
  PRICES.some((pattern) => parseUtc(pattern.exec(text)?.[1] ?? '') !== undefined)
const PRICES = [
  /^P (\d{4}-\d\d-\d\d) (?:"[^"]+"|[^\s;]+) \d+(?:\.\d+)? [A-Za-z]+\s*$/,
  /^(\d{4}-\d\d-\d\d) price [A-Z][A-Z0-9'._-]* \d+(?:\.\d+)? [A-Z]+\s*$/,
]

/** The option that Fava and beancount's reports take the currency of values from. */
const OPTION = /^option "operating_currency" "[A-Z]+"$/

const AMOUNT = String.raw`(\d+)(?:\.(\d+))? ("[^"]+"|[^\s;]+)`
/** A posting, possibly with the total price of its amount. */
const POSTING = new RegExp(String.raw`^\s+(\S+(?: \S+)*) {2,}(-?)${AMOUNT}(?: @@ ${AMOUNT})?\s*(?:;.*)?$`)

type PostingContext = { entry: Entry | undefined; declared: ReadonlySet<string>; program: string }
type Amount = { whole: string; fraction: string; commodity: string }

function checkPosting(
  { text, line }: { text: string; line: number },
  { entry, declared, program }: PostingContext,
): FormatProblem[] {
  // Lines of metadata or comments.
  if (/^\s+([a-z][\w-]*: |;)/.test(text)) return []
  const [, account, sign = '', ...cells] = POSTING.exec(text) ?? []
  if (account === undefined)
    return [
      {
        line,
        what: 'a posting needs an account, two spaces, digits with an optional decimal point and a commodity',
      },
    ]
  if (entry === undefined) return [{ line, what: 'a posting outside of an entry' }]
  const [units, price] = [amountOf(cells.slice(0, 3)), amountOf(cells.slice(3))]
  entry.postings += 1
  addWeight(entry, sign, price.commodity === '' ? units : price)
  return [
    ...(declared.has(account) ? [] : [`account ${account} is used before it is declared`]),
    ...[units, price].flatMap((amount) =>
      amount.commodity === '' ? [] : findAmountProblems(amount, { declared, program }),
    ),
  ].map((what) => ({ line, what }))
}

const amountOf = ([whole = '', fraction = '', commodity = '']: string[]): Amount => ({
  whole,
  fraction,
  commodity,
})

/** Adds what a posting contributes to the balance of its entry: its amount or, if it has one, its price. */
function addWeight({ sums }: Entry, sign: string, { whole, fraction, commodity }: Amount): void {
  const sum = sums.get(commodity) ?? { value: 0n, decimals: 0 }
  const decimals = Math.max(sum.decimals, fraction.length)
  const scaled = (value: bigint, from: number) => value * 10n ** BigInt(decimals - from)
  const value = BigInt(`${sign}${whole}${fraction}`)
  sums.set(commodity, {
    value: scaled(sum.value, sum.decimals) + scaled(value, fraction.length),
    decimals,
  })
}

function findAmountProblems(
  { whole, fraction, commodity }: Amount,
  { declared, program }: Pick<PostingContext, 'declared' | 'program'>,
): string[] {
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length
  return [
    ...(declared.has(commodity) ? [] : [`commodity ${commodity} is used before it is declared`]),
    ...(program === 'beancount' && digits > 28 ? [`${digits} digits, more than 28 are rounded`] : []),
    ...(program === 'ledger' && whole.length + fraction.length > 254
      ? ['a number of over 255 characters']
      : []),
    ...(program === 'beancount' && !/^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$/.test(commodity)
      ? [`commodity ${commodity}, expected 2 to 24 characters: capitals, digits and '._-`]
      : []),
  ]
}

function checkEntry({ line, sums, postings }: Entry): FormatProblem[] {
  const unbalanced = [...sums].filter(([, { value }]) => value !== 0n).map(([commodity]) => commodity)
  return [
    ...(postings === 0 ? [{ line, what: 'an entry without postings' }] : []),
    ...(unbalanced.length === 0
      ? []
      : [{ line, what: `the entry does not balance in ${unbalanced.join(', ')}` }]),
  ]
}
