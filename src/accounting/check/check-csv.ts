import { isHeader } from '../csv/headers.ts'
import { readInstant } from '../csv/instant.ts'
import type { Preset, Role } from '../csv/preset.ts'
import { describeLegs, typeLegs } from '../csv/types.ts'
import type { Leg } from '../import-rows.ts'
import { checkNumber, checkValue, shown } from './check-numbers.ts'

/** Something in a file that its program would refuse, or take for something else. */
export type Mistake = { line: number; what: string }

type Row = { line: number; cells: readonly string[] }

/** Holds the records of a CSV file, one after the other, against the rules of a preset. */
export function createCsvChecker(preset: Preset): { check(row: Row): Mistake[] } {
  let isBegun = false
  const seen: Seen = { lines: new Map(), ids: new Map(), names: new Map() }
  return {
    check: (row) => {
      if (isBegun) return checkRow(row, preset, seen)
      isBegun = true
      return checkHeader(row, preset)
    },
  }
}

function checkHeader({ line, cells }: Row, { columns }: Preset): Mistake[] {
  const wrong = columns.flatMap(([header], at) =>
    isHeader(cells[at], header)
      ? []
      : [{ line, what: `column ${at + 1} is ${shown(cells[at])}, expected ${shown(header)}` }],
  )
  const more = cells
    .slice(columns.length)
    .map((name) => ({ line, what: `there is no column ${shown(name)} in this format` }))
  return [...wrong, ...more]
}

/** What earlier rows had, each with its line. */
type Seen = {
  lines: Map<string, number>
  ids: Map<string, number>
  names: Map<string, { name: string; line: number }>
}

function checkRow({ line, cells }: Row, preset: Preset, seen: Seen): Mistake[] {
  if (cells.length !== preset.columns.length)
    return [{ line, what: `${cells.length} cells, expected ${preset.columns.length}` }]
  const cell = (role: Role) => {
    const at = preset.columns.findIndex(([, one]) => one === role)
    return at === -1 ? undefined : (cells[at] ?? '')
  }
  const problems = [
    ...checkDate(cell('date'), preset),
    ...checkType(cell('type'), preset),
    ...PAIRS.flatMap(([amount, asset]) => checkPair(cell(amount), cell(asset))),
    ...AMOUNTS.flatMap((amount) => checkNumber(cell(amount), preset)),
    ...OR_ZERO.flatMap((amount) => (cell(amount) === '' ? ['no amount, expected 0'] : [])),
    ...ROLE_CHECKS.flatMap(([role, form, expected]) => checkForm(cell(role), form, expected)),
    ...checkClock(cell('unixTime'), cell('date'), preset),
    ...checkPrice(cell('price'), preset),
    ...AMOUNTS.flatMap((amount) => checkValue(cell(amount), cell('price'), preset)),
    ...checkSides(cell, preset),
    ...checkWallet(cell('wallet'), cell('type'), preset),
    ...checkText(cells),
    ...(tellsApart(preset) ? checkTwice({ line, cells }, cell('id'), seen) : []),
    ...NAMES.flatMap((role) => checkName({ name: cell(role), line }, preset, seen)),
  ]
  return problems.map((what) => ({ line, what }))
}

/** Without a hash, an id or a note equal lines may well stand for two movements. */
const tellsApart = ({ columns, repeatsLines }: Preset) =>
  !repeatsLines && columns.some(([, role]) => ['hash', 'id', 'note'].includes(role))

function checkDate(date: string | undefined, { date: form }: Preset): string[] {
  if (date === undefined || readInstant(date, form) !== undefined) return []
  return [`date ${shown(date)}, expected ${form}${form === 'milliseconds' ? ' since 1970' : ', UTC'}`]
}

function checkType(type: string | undefined, preset: Preset): string[] {
  if (type === undefined || preset.labels === undefined || typeLegs(preset).has(type)) return []
  return [`type ${shown(type)} is none of this format`]
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
  if (amount === '') return [`${shown(asset)} without an amount`]
  return asset === '' ? [`amount ${amount} without an asset`] : []
}

const MONEY = /^(\d+(\.\d+)?)?$/
const ADDRESS = /^(0x[0-9a-fA-F]{40})?$/

/** What cells of some roles look like. */
const ROLE_CHECKS: readonly (readonly [role: Role, form: RegExp, expected: string])[] = [
  ...(['worth', 'inWorth', 'outWorth', 'feeWorth', 'price', 'coins'] as const).map(
    (role) => [role, MONEY, 'plain digits with a point'] as const,
  ),
  ['way', /^(Send|Receive|Trade)$/, 'Send, Receive or Trade'],
  ['block', /^\d+$/, 'the number of a block'],
  ['tokenId', /^\d+$/, 'the id of a token'],
  ['tokenType', /^(721|1155)$/, '721 or 1155'],
  ['contract', ADDRESS, 'a contract'],
  ['sender', ADDRESS, 'an address'],
  ['receiver', ADDRESS, 'an address'],
  ['zero', /^0$/, '0'],
  ['holder', /./, 'whose it is'],
  ['fromWallet', /./, 'where it came from'],
  ['toWallet', /./, 'where it went'],
]

function checkForm(cell: string | undefined, form: RegExp, expected: string): string[] {
  return cell === undefined || form.test(cell) ? [] : [`${shown(cell)}, expected ${expected}`]
}

function checkClock(seconds: string | undefined, date: string | undefined, preset: Preset): string[] {
  const instant = readInstant(date ?? '', preset.date)
  if (seconds === undefined || instant === undefined || Number(seconds) * 1_000 === instant) return []
  return [`${shown(seconds)} seconds are not ${date}`]
}

function checkPrice(price: string | undefined, { needsPrices }: Preset): string[] {
  return needsPrices && !/[1-9]/.test(price ?? '') ? ['there is no price'] : []
}

/** The amounts of a line have to fit its type. */
function checkSides(cell: (role: Role) => string | undefined, preset: Preset): string[] {
  const type = cell('type')
  const isSet = (role: Role) => (cell(role) ?? '') !== ''
  if (!AMOUNTS.some(isSet)) return ['no amount']
  if (AMOUNTS.every((amount) => !/[1-9]/.test(cell(amount) ?? ''))) return ['all amounts are zero']
  if (cell('outAmountOrZero') !== undefined) return checkFee(cell, type === preset.types.fee)
  if (cell('amount') !== undefined && !isSet('amount')) return ['no amount']
  const leg = legOf(isSet)
  const way = leg === undefined ? undefined : WAYS[leg]
  if (way !== undefined && cell('way') !== undefined && cell('way') !== way)
    return [`${cell('way')}, but this is ${way}`]
  return checkLeg(type, leg, preset)
}

const WAYS: Readonly<Record<Leg, string>> = { in: 'Receive', out: 'Send', swap: 'Trade' }

/** Which amounts a line has; undefined where one column holds what came in and what went out. */
function legOf(isSet: (role: Role) => boolean): Leg | undefined {
  if (isSet('quoteAmount') || (isSet('inAmount') && isSet('outAmount'))) return 'swap'
  if (isSet('amount')) return undefined
  return isSet('inAmount') ? 'in' : 'out'
}

/** A line must have the amounts that its type stands for. */
function checkLeg(type: string | undefined, leg: Leg | undefined, preset: Preset): string[] {
  const legs = type === undefined ? undefined : typeLegs(preset).get(type)
  if (legs === undefined) return []
  const fits = leg === undefined ? legs.has('in') || legs.has('out') : legs.has(leg)
  return fits ? [] : [`the type ${shown(type)} needs ${describeLegs(legs)}`]
}

/** Where amounts that are not there are zeros: of a fee nothing went out, of all else something did or came. */
function checkFee(cell: (role: Role) => string | undefined, isFee: boolean): string[] {
  const [came, gone, fee] = OR_ZERO.map((role) => /[1-9]/.test(cell(role) ?? ''))
  if (came && gone) return ['coins came in and went out in one line']
  if (cell('type') === undefined) return []
  if (isFee) return gone || !fee ? [`${cell('type')} has to have a fee, and nothing that went out`] : []
  return gone ? [] : [`${cell('type')} has to have what went out`]
}

function checkWallet(wallet: string | undefined, type = '', { walletOfType }: Preset): string[] {
  const demanded = walletOfType?.[type]
  return demanded === undefined || wallet === demanded
    ? []
    : [`wallet ${shown(wallet)}, expected ${demanded} for the type ${type}`]
}

function checkText(cells: readonly string[]): string[] {
  const bad = cells.find((text) => /[\p{Cc}\p{Cf}]/u.test(text))
  const formula = cells.find((text) => /^[=+@]|^-(?![\d.])/.test(text))
  return [
    ...(bad === undefined ? [] : [`invisible characters in ${shown(bad)}`]),
    ...(formula === undefined ? [] : [`${shown(formula)} is a formula for a spreadsheet`]),
  ]
}

function checkTwice({ line, cells }: Row, id: string | undefined, { lines, ids }: Seen): string[] {
  const whole = JSON.stringify(cells)
  const same = lines.get(whole)
  lines.set(whole, same ?? line)
  if (same !== undefined) return [`the same as line ${same}: it would count twice, or not at all`]
  const before = id === undefined || id === '' ? undefined : ids.get(id)
  if (id !== undefined) ids.set(id, before ?? line)
  return before === undefined ? [] : [`the id of line ${before}: the program takes it for the same`]
}

/** Names that only differ in their letters' case are one asset for most programs. */
function checkName(
  { name, line }: { name: string | undefined; line: number },
  { naming }: Preset,
  seen: Seen,
): string[] {
  if (name === undefined || name === '') return []
  const known = seen.names.get(name.toLowerCase())
  if (known === undefined) seen.names.set(name.toLowerCase(), { name, line })
  if (known !== undefined && known.name !== name && naming !== 'caip')
    return [`asset ${shown(name)} and ${shown(known.name)} of line ${known.line} are one for the program`]
  if (
    naming === 'caip' &&
    !/^((?!.*-[0-9a-f]{8})[\p{L}\p{N}._-]{1,12}|eip155:\d+\/erc(20|721|1155):0x[0-9a-fA-F]{40}(\/\d+)?)$/u.test(
      name,
    )
  )
    return [`asset ${shown(name)}, expected a coin or eip155:<chain>/erc20:<contract>`]
  if (naming === 'placeholder' && /^(NULL|NFT)0?$/i.test(name))
    return [`placeholder ${shown(name)} without its number`]
  return []
}
