import { exactFiatValue, FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import {
  type DateFormat,
  describeSides,
  isCompared,
  isHeader,
  type Preset,
  type Role,
  typeSides,
} from '../csv/preset.ts'
import { rejectedPriceReason } from '../format-amount.ts'
import type { LegSide } from '../import-rows.ts'

/** Something in a file that the program would reject or misinterpret. */
export type FormatProblem = {
  /** The file, if a folder is checked. */
  file?: string | undefined
  line: number
  what: string
}

/** A record and its line number. */
export type Row = { line: number; cells: readonly string[] }

/** Returns the cell of a role; undefined if the format has no such column. */
export type CellOf = (role: Role) => string | undefined

/** Returns the cells of a row by role. */
export const cellsOf =
  ({ cells }: Row, { columns }: Preset): CellOf =>
  (role) =>
    cells[columns.findIndex(([, columnRole]) => columnRole === role)]

type AddProblem = (what: string) => void

/** Checks the records of a CSV file against the rules of a preset. The first record must be the header. */
export function createCsvChecker(preset: Preset): { check(row: Row): FormatProblem[] } {
  let hasHeader = false
  const sides = typeSides(preset)
  const checkRepetition = repetitionCheck(preset)
  const checkCells = (row: Row, cell: CellOf, add: AddProblem) => {
    checkDate(cell('date'), preset, add)
    const type = cell('type')
    if (type !== undefined && preset.labels !== undefined && !sides.has(type))
      add(`type ${quote(type)} does not exist in this format`)
    for (const [amount, asset] of PAIRS) checkPair(cell(amount), cell(asset), add)
    for (const amount of AMOUNTS) checkNumber(cell(amount), preset, add)
    for (const amount of OR_ZERO) if (cell(amount) === '') add('empty amount, expected 0')
    for (const [role, pattern, expected] of PATTERNS) {
      const text = cell(role)
      if (text !== undefined && !pattern.test(text)) add(`${quote(text)}, expected ${expected}`)
    }
    checkAttachedFee(cell, preset, add)
    checkUnixTime(cell('unixTime'), cell('date'), preset, add)
    const priceReason = preset.needsPrices ? rejectedPriceReason(cell('price'), preset.numbers) : undefined
    if (priceReason !== undefined) add(priceReason)
    for (const amount of AMOUNTS) checkValue(cell(amount), cell('price'), preset, add)
    checkLegs(cell, preset, add, (side) => {
      const allowed = type === undefined ? undefined : sides.get(type)
      if (allowed === undefined) return
      if (side === undefined ? !allowed.has('in') && !allowed.has('out') : !allowed.has(side))
        add(`the type ${quote(type)} needs ${describeSides(allowed)}`)
    })
    checkWallets(cell, preset, add)
    checkText(row.cells, add)
    checkRepetition(row, cell, add)
  }
  return {
    check: (row) => {
      const problems: FormatProblem[] = []
      const add = (what: string) => problems.push({ line: row.line, what })
      if (!hasHeader) checkHeader(row, preset, add)
      else if (row.cells.length !== preset.columns.length)
        add(`${row.cells.length} cells, expected ${preset.columns.length}`)
      else checkCells(row, cellsOf(row, preset), add)
      hasHeader = true
      return problems
    },
  }
}

/** Quotes the text of a cell for messages, cut to 60 characters. */
const quote = (text: string | undefined) =>
  text === undefined ? 'absent' : JSON.stringify(text.slice(0, 60))

function checkHeader({ cells }: Row, { columns }: Preset, add: AddProblem): void {
  for (const [at, [header]] of columns.entries())
    if (!isHeader(cells[at], header))
      add(`column ${at + 1} is ${quote(cells[at])}, expected ${quote(header)}`)
  for (const name of cells.slice(columns.length)) add(`this format has no column ${quote(name)}`)
}

function checkDate(date: string | undefined, { date: format }: Preset, add: AddProblem): void {
  if (date !== undefined && parseCsvInstant(date, format) === undefined)
    add(`date ${quote(date)}, expected ${format}${format === 'milliseconds' ? ' since 1970' : ', UTC'}`)
}

const PAIRS: readonly (readonly [amount: Role, asset: Role])[] = [
  ['amount', 'asset'],
  ['quoteAmount', 'quoteAsset'],
  ['inAmount', 'inAsset'],
  ['outAmount', 'outAsset'],
  ['feeAmount', 'feeAsset'],
  ['outAmountOrZero', 'asset'],
]
const NAMES = [...new Set(PAIRS.map(([, asset]) => asset))]
const OR_ZERO: readonly Role[] = ['inAmountOrZero', 'outAmountOrZero', 'feeAmountOrZero']
const AMOUNTS: readonly Role[] = [...new Set([...PAIRS.map(([amount]) => amount), ...OR_ZERO])]

function checkPair(amount: string | undefined, asset: string | undefined, add: AddProblem): void {
  if (amount === '' && asset) add(`${quote(asset)} without an amount`)
  if (amount && asset === '') add(`amount ${amount} without an asset`)
}

/** Adds the reasons why the program would reject or round an amount; none for an empty cell. */
function checkNumber(amount = '', { numbers }: Preset, add: AddProblem): void {
  if (amount === '') return
  if (!DECIMAL.test(amount)) {
    add(`amount ${quote(amount)}, expected digits with an optional decimal point, no sign and no exponent`)
    return
  }
  const [whole = '', fraction = ''] = amount.split('.')
  const { maxDecimals = fraction.length, maxWholeDigits = whole.length, needsPoint } = numbers
  const digits = countDigits(`${whole}${fraction}`)
  const { maxDigits = digits } = numbers
  if (needsPoint && !amount.includes('.')) add(`amount ${amount}, expected a decimal point: ${amount}.0`)
  if (fraction.length > maxDecimals)
    add(`amount ${amount} has ${fraction.length} decimals, at most ${maxDecimals} are allowed`)
  if (countDigits(whole) > maxWholeDigits)
    add(`amount ${amount} has more than ${maxWholeDigits} digits before the point`)
  if (digits > maxDigits) add(`amount ${amount} has ${digits} digits, more than ${maxDigits} are rounded`)
}

/** Number of digits without leading zeros. */
const countDigits = (digits: string) => digits.replace(/^0+/, '').length

/** Checks that amount × price has no more digits before the decimal point than the program can compare. */
function checkValue(amount = '', price = '', { numbers: { maxWholeDigits } }: Preset, add: AddProblem): void {
  if (maxWholeDigits === undefined || !DECIMAL.test(amount) || !DECIMAL.test(price)) return
  const [whole = '', fraction = ''] = amount.split('.')
  const value = exactFiatValue(BigInt(whole + fraction), fraction.length, price)
  if (value >= 10n ** BigInt(maxWholeDigits + FIAT_DECIMALS))
    add(
      `the value of amount ${amount} at the price ${price} has more than ${maxWholeDigits} digits before the point`,
    )
}

const DECIMAL = /^\d+(\.\d+)?$/
const PLAIN_DECIMAL = /^(\d+(\.\d+)?)?$/
const ADDRESS = /^(0x[0-9a-fA-F]{40})?$/

/** Patterns of cells by role. */
const PATTERNS: readonly (readonly [role: Role, pattern: RegExp, expected: string])[] = [
  ...(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price', 'coins'] as const).map(
    (role) => [role, PLAIN_DECIMAL, 'digits with an optional decimal point'] as const,
  ),
  ['direction', /^(Send|Receive|Trade)$/, 'Send, Receive or Trade'],
  ['block', /^\d+$/, 'a block number'],
  ['tokenId', /^\d+$/, 'a token id'],
  ['tokenType', /^(721|1155)$/, '721 or 1155'],
  ['contract', ADDRESS, 'a contract address'],
  ['sender', ADDRESS, 'an address'],
  ['receiver', ADDRESS, 'an address'],
  ['zero', /^0$/, '0'],
  ['holder', /./, 'the holder'],
  ['fromWallet', /./, 'the sending wallet'],
  ['toWallet', /./, 'the receiving wallet'],
]

/** Checks that the program counts a fee that is in the line of another amount. */
function checkAttachedFee(cell: CellOf, { attachedFees }: Preset, add: AddProblem): void {
  const asset = cell('feeAsset') ?? ''
  if (asset === '' || attachedFees === undefined || attachedFees.ofSameAsset !== undefined) return
  if (asset === cell('inAsset') || asset === cell('outAsset'))
    add(`the program ignores a fee in ${quote(asset)}, which the line sends or receives`)
}

function checkUnixTime(seconds: string | undefined, date = '', preset: Preset, add: AddProblem): void {
  const instant = parseCsvInstant(date, preset.date)
  if (seconds !== undefined && instant !== undefined && Number(seconds) * 1_000 !== instant)
    add(`Unix time ${quote(seconds)} does not equal ${date}`)
}

/** Checks that the row has amounts, and that they fit its direction and, by `checkSide`, its type. */
function checkLegs(
  cell: CellOf,
  preset: Preset,
  add: AddProblem,
  checkSide: (side: LegSide | undefined) => void,
): void {
  const isSet = (role: Role) => (cell(role) ?? '') !== ''
  const side = sideOf(isSet)
  const [direction, expected] = [cell('direction'), side && DIRECTIONS[side]]
  if (!AMOUNTS.some(isSet)) add('no amount')
  else if (AMOUNTS.every((amount) => !/[1-9]/.test(cell(amount) ?? ''))) add('all amounts are zero')
  else if (cell('outAmountOrZero') !== undefined) checkFee(cell, preset, add)
  else if (cell('amount') === '') add('no amount')
  else if (direction !== undefined && expected !== undefined && direction !== expected)
    add(`direction ${quote(direction)}, expected ${expected}`)
  else checkSide(side)
}

const DIRECTIONS: Readonly<Record<LegSide, string>> = { in: 'Receive', out: 'Send', swap: 'Trade' }

/** Returns which amounts a row has; undefined if the format has one column for both received and sent amounts. */
function sideOf(isSet: (role: Role) => boolean): LegSide | undefined {
  if (isSet('quoteAmount') || (isSet('inAmount') && isSet('outAmount'))) return 'swap'
  if (isSet('amount')) return undefined
  return isSet('inAmount') ? 'in' : 'out'
}

/** Checks rows of formats that write missing amounts as 0: a fee has no sent amount, every other row with a type has one. */
function checkFee(cell: CellOf, { types }: Preset, add: AddProblem): void {
  const [hasReceived, hasSent, hasFee] = OR_ZERO.map((role) => /[1-9]/.test(cell(role) ?? ''))
  const type = cell('type')
  if (hasReceived && hasSent) add('both a received and a sent amount')
  else if (type === undefined) return
  else if (type === types.fee) {
    if (hasSent || !hasFee) add(`the type ${type} needs a fee and no sent amount`)
  } else if (!hasSent) add(`the type ${type} needs a sent amount`)
}

function checkWallets(cell: CellOf, { walletOfType, excludedFromWallets }: Preset, add: AddProblem): void {
  const [type = '', wallet] = [cell('type'), cell('wallet')]
  const required = walletOfType?.[type]
  if (required !== undefined && wallet !== required)
    add(`wallet ${quote(wallet)}, expected ${required} for the type ${type}`)
  for (const role of ['wallet', 'fromWallet', 'toWallet'] as const) {
    const excluded = excludedFromWallets && cell(role)?.match(excludedFromWallets)
    if (excluded)
      add(`wallet ${quote(cell(role))} contains ${quote(excluded[0])}, which the program does not accept`)
  }
}

function checkText(cells: readonly string[], add: AddProblem): void {
  const invisible = cells.find((text) => /[\p{Cc}\p{Cf}]/u.test(text))
  if (invisible !== undefined) add(`invisible characters in ${quote(invisible)}`)
  const formula = cells.find((text) => /^[=+@]|^-(?![\d.])/.test(text))
  if (formula !== undefined) add(`a spreadsheet would read ${quote(formula)} as a formula`)
}

/** Creates the check of a row against earlier rows: their cells, ids and names of assets. */
function repetitionCheck(preset: Preset): (row: Row, cell: CellOf, add: AddProblem) => void {
  const { columns, mayRepeatRows, equalLines, naming } = preset
  const isMerging = equalLines.handling === 'merge'
  // Rows of different movements are merged, or a column identifies the movement.
  const hasUniqueRows =
    isMerging || (!mayRepeatRows && columns.some(([, role]) => ['hash', 'id', 'note'].includes(role)))
  const lines = new Map<string, number>()
  const ids = new Map<string, number>()
  const names = new Map<string, { name: string; line: number }>()
  const checkDuplicate = ({ line, cells }: Row, id = '', add: AddProblem): void => {
    const compared = cells.filter((_, at) => !isMerging || isCompared(preset, columns[at]?.[1] ?? 'note'))
    const key = JSON.stringify(compared)
    const [sameRow, sameId] = [lines.get(key), ids.get(id)]
    if (sameRow !== undefined) add(`duplicate of line ${sameRow}: it would be imported twice, or not at all`)
    else if (sameId !== undefined)
      add(`the id of line ${sameId}: the program would treat both as the same entry`)
    if (sameRow === undefined) lines.set(key, line)
    if (sameRow === undefined && sameId === undefined && id !== '') ids.set(id, line)
  }
  return (row, cell, add) => {
    if (hasUniqueRows) checkDuplicate(row, cell('id'), add)
    for (const role of NAMES) {
      const name = cell(role)
      if (!name) continue
      // Most programs treat names that differ only in case as one asset.
      const earlier = names.get(name.toLowerCase())
      if (earlier === undefined) names.set(name.toLowerCase(), { name, line: row.line })
      if (earlier !== undefined && earlier.name !== name && naming !== 'caip')
        add(
          `the program treats asset ${quote(name)} and ${quote(earlier.name)} of line ${earlier.line} as one`,
        )
      else if (naming === 'caip' && !IDENTIFIER.test(name))
        add(`asset ${quote(name)}, expected the identifier of a coin or eip155:<chain>/erc20:<contract>`)
      else if (naming === 'placeholder' && /^(NULL|NFT)0?$/i.test(name))
        add(`placeholder ${quote(name)} without its number`)
    }
  }
}

/** An identifier of a coin, or a CAIP-19 identifier of a token; not a generated name. */
const IDENTIFIER =
  /^((?!.*-[0-9a-f]{8}(-[0-9a-f]{4})?$)[\p{L}\p{N}._-]{1,36}|eip155:\d+\/erc(20|721):0x[0-9a-fA-F]{40}(\/\d+)?)$/u

/** Parses a formatted time to Unix milliseconds; undefined if it does not match the format. */
export function parseCsvInstant(text: string, format: DateFormat): number | undefined {
  const match = DATE_PATTERNS[format].exec(text)
  if (match === null) return undefined
  const { y, m, d, clock } = match.groups ?? {}
  const ms = format === 'milliseconds' ? Number(text) : Date.parse(`${y}-${m}-${d}T${clock}Z`)
  return Number.isNaN(ms) || (format !== 'milliseconds' && new Date(ms).getUTCDate() !== Number(d))
    ? undefined
    : ms
}

const CLOCK = String.raw`(?<clock>[01]\d:[0-5]\d:[0-5]\d|2[0-3]:[0-5]\d:[0-5]\d)`
const YMD = String.raw`(?<y>20\d\d)-(?<m>\d\d)-(?<d>\d\d)`
const DATE_PATTERNS: Readonly<Record<DateFormat, RegExp>> = {
  'YYYY-MM-DD HH:mm:ss': new RegExp(`^${YMD} ${CLOCK}$`),
  'YYYY-MM-DD HH:mm:ss UTC': new RegExp(`^${YMD} ${CLOCK} UTC$`),
  'YYYY-MM-DD HH:mm:ss+00:00': new RegExp(String.raw`^${YMD} ${CLOCK}\+00:00$`),
  'YYYY-MM-DDTHH:mm:ssZ': new RegExp(`^${YMD}T${CLOCK}Z$`),
  'YYYY-MM-DDTHH:mm:ss.000Z': new RegExp(`^${YMD}T${CLOCK}\\.000Z$`),
  'MM/DD/YYYY HH:mm:ss': new RegExp(String.raw`^(?<m>\d\d)/(?<d>\d\d)/(?<y>20\d\d) ${CLOCK}$`),
  'DD.MM.YYYY HH:mm:ss': new RegExp(String.raw`^(?<d>\d\d)\.(?<m>\d\d)\.(?<y>20\d\d) ${CLOCK}$`),
  // Exactly 13 digits, so Unix times in seconds, which would be read as days in 1970, do not match.
  milliseconds: /^1\d{12}$/,
}
