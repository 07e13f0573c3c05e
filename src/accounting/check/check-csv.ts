import { isHeader } from '../csv/headers.ts'
import { parseCsvInstant } from '../csv/instant.ts'
import type { Preset, Role } from '../csv/preset.ts'
import { describeSides, typeSides } from '../csv/types.ts'
import { rejectedPriceReason } from '../format-amount.ts'
import type { LegSide } from '../import-rows.ts'
import { checkNumber, checkValue, quote } from './check-numbers.ts'
import { checkDuplicate, checkName, newSeenRows, type Row, type SeenRows } from './check-seen-rows.ts'

/** Something in a file that the program would reject or misinterpret. */
export type FormatProblem = { line: number; what: string }

/** Checks the records of a CSV file against the rules of a preset. The first record must be the header. */
export function createCsvChecker(preset: Preset): { check(row: Row): FormatProblem[] } {
  let hasHeader = false
  const seen = newSeenRows()
  return {
    check: (row) => {
      if (hasHeader) return checkRow(row, preset, seen)
      hasHeader = true
      return checkHeader(row, preset)
    },
  }
}

function checkHeader({ line, cells }: Row, { columns }: Preset): FormatProblem[] {
  const mismatches = columns.flatMap(([header], at) =>
    isHeader(cells[at], header)
      ? []
      : [{ line, what: `column ${at + 1} is ${quote(cells[at])}, expected ${quote(header)}` }],
  )
  const extra = cells
    .slice(columns.length)
    .map((name) => ({ line, what: `this format has no column ${quote(name)}` }))
  return [...mismatches, ...extra]
}

function checkRow({ line, cells }: Row, preset: Preset, seen: SeenRows): FormatProblem[] {
  if (cells.length !== preset.columns.length)
    return [{ line, what: `${cells.length} cells, expected ${preset.columns.length}` }]
  const cell = (role: Role) => {
    const at = preset.columns.findIndex(([, columnRole]) => columnRole === role)
    return at === -1 ? undefined : (cells[at] ?? '')
  }
  const problems = [
    ...checkDate(cell('date'), preset),
    ...checkType(cell('type'), preset),
    ...PAIRS.flatMap(([amount, asset]) => checkPair(cell(amount), cell(asset))),
    ...AMOUNTS.flatMap((amount) => checkNumber(cell(amount), preset)),
    ...OR_ZERO.flatMap((amount) => (cell(amount) === '' ? ['empty amount, expected 0'] : [])),
    ...ROLE_CHECKS.flatMap(([role, pattern, expected]) => checkPattern(cell(role), pattern, expected)),
    ...checkUnixTime(cell('unixTime'), cell('date'), preset),
    ...checkPrice(cell('price'), preset),
    ...AMOUNTS.flatMap((amount) => checkValue(cell(amount), cell('price'), preset)),
    ...checkLegs(cell, preset),
    ...checkWallet(cell('wallet'), cell('type'), preset),
    ...WALLETS.flatMap((role) => checkWalletName(cell(role), preset)),
    ...checkText(cells),
    ...checkDuplicate({ line, cells }, { preset, seen, id: cell('id') }),
    ...NAMES.flatMap((role) => checkName({ name: cell(role), line }, preset, seen)),
  ]
  return problems.map((what) => ({ line, what }))
}

function checkDate(date: string | undefined, { date: format }: Preset): string[] {
  if (date === undefined || parseCsvInstant(date, format) !== undefined) return []
  return [`date ${quote(date)}, expected ${format}${format === 'milliseconds' ? ' since 1970' : ', UTC'}`]
}

function checkType(type: string | undefined, preset: Preset): string[] {
  if (type === undefined || preset.labels === undefined || typeSides(preset).has(type)) return []
  return [`type ${quote(type)} does not exist in this format`]
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

function checkPair(amount: string | undefined, asset: string | undefined): string[] {
  if (amount === undefined || asset === undefined || (amount === '' && asset === '')) return []
  if (amount === '') return [`${quote(asset)} without an amount`]
  return asset === '' ? [`amount ${amount} without an asset`] : []
}

const PLAIN_DECIMAL = /^(\d+(\.\d+)?)?$/
const ADDRESS = /^(0x[0-9a-fA-F]{40})?$/

/** Patterns of cells by role. */
const ROLE_CHECKS: readonly (readonly [role: Role, pattern: RegExp, expected: string])[] = [
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

function checkPattern(cell: string | undefined, pattern: RegExp, expected: string): string[] {
  return cell === undefined || pattern.test(cell) ? [] : [`${quote(cell)}, expected ${expected}`]
}

function checkUnixTime(seconds: string | undefined, date: string | undefined, preset: Preset): string[] {
  const instant = parseCsvInstant(date ?? '', preset.date)
  if (seconds === undefined || instant === undefined || Number(seconds) * 1_000 === instant) return []
  return [`Unix time ${quote(seconds)} does not equal ${date}`]
}

function checkPrice(price: string | undefined, { needsPrices, numbers }: Preset): string[] {
  const reason = needsPrices ? rejectedPriceReason(price, numbers) : undefined
  return reason === undefined ? [] : [reason]
}

/** Checks that the row has amounts, and that they fit its type and direction. */
function checkLegs(cell: (role: Role) => string | undefined, preset: Preset): string[] {
  const type = cell('type')
  const isSet = (role: Role) => (cell(role) ?? '') !== ''
  if (!AMOUNTS.some(isSet)) return ['no amount']
  if (AMOUNTS.every((amount) => !/[1-9]/.test(cell(amount) ?? ''))) return ['all amounts are zero']
  if (cell('outAmountOrZero') !== undefined) return checkFee(cell, type === preset.types.fee)
  if (cell('amount') !== undefined && !isSet('amount')) return ['no amount']
  const side = sideOf(isSet)
  const direction = side === undefined ? undefined : DIRECTIONS[side]
  if (direction !== undefined && cell('direction') !== undefined && cell('direction') !== direction)
    return [`direction ${quote(cell('direction'))}, expected ${direction}`]
  return checkSide(type, side, preset)
}

const DIRECTIONS: Readonly<Record<LegSide, string>> = { in: 'Receive', out: 'Send', swap: 'Trade' }

/** Returns which amounts a row has; undefined if the format has one column for both received and sent amounts. */
function sideOf(isSet: (role: Role) => boolean): LegSide | undefined {
  if (isSet('quoteAmount') || (isSet('inAmount') && isSet('outAmount'))) return 'swap'
  if (isSet('amount')) return undefined
  return isSet('inAmount') ? 'in' : 'out'
}

/** Checks that the row has the amounts that its type needs. */
function checkSide(type: string | undefined, side: LegSide | undefined, preset: Preset): string[] {
  const sides = type === undefined ? undefined : typeSides(preset).get(type)
  if (sides === undefined) return []
  const isAllowed = side === undefined ? sides.has('in') || sides.has('out') : sides.has(side)
  return isAllowed ? [] : [`the type ${quote(type)} needs ${describeSides(sides)}`]
}

/** Checks rows of formats that write missing amounts as 0: a fee has no sent amount, every other row with a type has one. */
function checkFee(cell: (role: Role) => string | undefined, isFee: boolean): string[] {
  const [hasReceived, hasSent, fee] = OR_ZERO.map((role) => /[1-9]/.test(cell(role) ?? ''))
  if (hasReceived && hasSent) return ['both a received and a sent amount']
  if (cell('type') === undefined) return []
  if (isFee) return hasSent || !fee ? [`the type ${cell('type')} needs a fee and no sent amount`] : []
  return hasSent ? [] : [`the type ${cell('type')} needs a sent amount`]
}

function checkWallet(wallet: string | undefined, type = '', { walletOfType }: Preset): string[] {
  const required = walletOfType?.[type]
  return required === undefined || wallet === required
    ? []
    : [`wallet ${quote(wallet)}, expected ${required} for the type ${type}`]
}

const WALLETS: readonly Role[] = ['wallet', 'fromWallet', 'toWallet']

function checkWalletName(wallet: string | undefined, { excludedFromWallets: excluded }: Preset): string[] {
  const found = excluded === undefined ? null : wallet?.match(excluded)
  return found
    ? [`wallet ${quote(wallet)} contains ${quote(found[0])}, which the program does not accept`]
    : []
}

function checkText(cells: readonly string[]): string[] {
  const invisible = cells.find((text) => /[\p{Cc}\p{Cf}]/u.test(text))
  const formula = cells.find((text) => /^[=+@]|^-(?![\d.])/.test(text))
  return [
    ...(invisible === undefined ? [] : [`invisible characters in ${quote(invisible)}`]),
    ...(formula === undefined ? [] : [`a spreadsheet would read ${quote(formula)} as a formula`]),
  ]
}
