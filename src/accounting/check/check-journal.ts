import { parseUtc } from '../../core/model/utc.ts'
import type { FormatProblem } from './check-csv.ts'

type Entry = { line: number; sums: Map<string, { value: bigint; decimals: number }>; postings: number }

/** Checks a journal line by line: names are declared before use, dates are in order, and entries balance. */
export function createJournalChecker(program: string): {
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
      if (isPrice(text)) return end()
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
  const known = sums.get(commodity) ?? { value: 0n, decimals: 0 }
  const decimals = Math.max(known.decimals, fraction.length)
  const scaled = (value: bigint, from: number) => value * 10n ** BigInt(decimals - from)
  const value = BigInt(`${sign}${whole}${fraction}`)
  sums.set(commodity, {
    value: scaled(known.value, known.decimals) + scaled(value, fraction.length),
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
