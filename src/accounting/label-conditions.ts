import { DAY_MS, isDay, parseUtc } from '../core/model/utc.ts'
import { wellKnownTokens } from '../core/model/well-known-tokens.ts'
import type { ImportRow } from './import-rows.ts'
import type { Movement } from './movement.ts'
import { tickerName } from './names/asset-name.ts'

const TEXT_COLUMNS = ['transaction', 'counterparty', 'method', 'token', 'wallet'] as const
type TextColumn = (typeof TEXT_COLUMNS)[number]

/** The columns that select rows, in order of precedence. */
export const CONDITION_COLUMNS = [...TEXT_COLUMNS, 'direction', 'from', 'until'] as const

/** The cells of a line that select rows; empty cells are absent. A row has to satisfy all of them. */
export type Conditions = Readonly<Partial<Record<(typeof CONDITION_COLUMNS)[number], string>>>

export type LabelProblem = { found: string; expected: string }

type Cells = Readonly<Record<string, string>>

/** A transaction hash, or the id of an import or export of the C-Chain (base 58). */
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9a-z]{40,60})$/i
const ADDRESS = /^0x[0-9a-f]{40}$/i

/** Returns the conditions of a line. `match` is a transaction, the address of a counterparty, or a method. */
export function parseConditions(untrimmed: Cells): Conditions | LabelProblem {
  const { match = '', ...cells }: Cells = Object.fromEntries(
    Object.entries(untrimmed).map(([name, text]) => [name, text.trim()]),
  )
  const column = TRANSACTION.test(match) ? 'transaction' : ADDRESS.test(match) ? 'counterparty' : 'method'
  if (match !== '' && (cells[column] ?? '') !== '')
    return { found: `both match and ${column}`, expected: 'one of them' }
  const all: Cells = match === '' ? cells : { ...cells, [column]: match }
  const given = CONDITION_COLUMNS.flatMap((name) => (all[name] ? [[name, all[name]] as const] : []))
  if (given.length === 0)
    return { found: 'no condition', expected: `a cell in one of match, ${CONDITION_COLUMNS.join(', ')}` }
  const conditions: Conditions = Object.fromEntries(given)
  return findProblem(conditions) ?? conditions
}

function findProblem(conditions: Conditions): LabelProblem | undefined {
  const { transaction, direction, from, until, ...others } = conditions
  if (transaction !== undefined && !TRANSACTION.test(transaction))
    return {
      found: `transaction ${transaction}`,
      expected: 'a complete hash: 0x and 64 hex digits, without *',
    }
  for (const name of ['counterparty', 'token', 'wallet'] as const)
    if (/^0x/i.test(others[name] ?? '') && !ADDRESS.test(others[name] ?? ''))
      return {
        found: `${name} ${others[name]}`,
        expected: 'a complete address: 0x and 40 hex digits, without *; or a name',
      }
  if (direction !== undefined && direction !== 'in' && direction !== 'out')
    return { found: `direction ${direction}`, expected: 'in or out' }
  for (const [name, text] of Object.entries({ from, until }))
    if (text !== undefined && parseUtc(text) === undefined)
      return { found: `${name} ${text}`, expected: 'a UTC day such as 2024-03-31, or 2024-03-31T12:00:00Z' }
  const range = timeRange(conditions)
  if (range.from < range.to) return undefined
  return { found: `from ${from} until ${until}`, expected: 'a time in from that is before until' }
}

/** The half-open range of included times in milliseconds since 1970. A day as `until` is included to its end. */
function timeRange({ from = '', until = '' }: Conditions): { from: number; to: number } {
  const end = parseUtc(until) ?? Number.POSITIVE_INFINITY
  return { from: parseUtc(from) ?? Number.NEGATIVE_INFINITY, to: isDay(until) ? end + DAY_MS : end }
}

/** The texts of a movement that a cell of each column is compared with. */
const TEXTS: Readonly<Record<TextColumn, (movement: Movement) => readonly (string | null | undefined)[]>> = {
  transaction: ({ transaction }) => [transaction],
  counterparty: ({ counterparty, counterpartyName, via }) => [counterparty, counterpartyName, via],
  method: ({ method }) => [method],
  // The symbol in the rows is not compared: anyone can create a token with the symbol of another one.
  token: ({ asset, chain }) => [
    asset.address ?? 'native',
    tickerName(asset),
    wellKnownTokens(chain).get(asset.address ?? '')?.ticker,
  ],
  wallet: ({ wallet, label }) => [wallet, label],
}

/**
 * Whether a line names a transaction or a counterparty exactly. Only such a line selects transfers between own wallets: rules
 * for a kind of payment should not make payments of them.
 */
const selectsOwnTransfers = ({ transaction, counterparty = '*' }: Conditions) =>
  transaction !== undefined || !counterparty.includes('*')

/**
 * Creates a test of rows. One movement of the row has to satisfy all conditions on its texts and its time. A swap has no
 * direction.
 */
export function conditionTest(conditions: Conditions): (row: ImportRow) => boolean {
  const tests = TEXT_COLUMNS.flatMap((name) => {
    const cell = conditions[name]
    return cell === undefined ? [] : [{ textsOf: TEXTS[name], matches: patternTest(cell) }]
  })
  const { from, to } = timeRange(conditions)
  const isTimeLimited = conditions.from !== undefined || conditions.until !== undefined
  const isSelected = (movement: Movement) => {
    const time = isTimeLimited ? Date.parse(movement.time) : from
    return (
      time >= from &&
      time < to &&
      tests.every(({ textsOf, matches }) => textsOf(movement).some((text) => text != null && matches(text)))
    )
  }
  const { direction } = conditions
  const isOwnSelected = selectsOwnTransfers(conditions)
  return ({ kind, isOwn, movements }) =>
    (isOwnSelected || !isOwn) && (direction === undefined || direction === kind) && movements.some(isSelected)
}

/**
 * Creates a test of texts, ignoring case. `*` in the pattern stands for any text. Finds the parts between them from left
 * to right, so that no pattern takes more than linear time.
 */
function patternTest(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.toLowerCase().split('*')
  const end = rest.pop()
  if (end === undefined) return (text) => text.toLowerCase() === start
  return (text) => {
    const lower = text.toLowerCase()
    if (!lower.startsWith(start)) return false
    let at = start.length
    for (const part of rest) {
      const found = lower.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return lower.length - end.length >= at && lower.endsWith(end)
  }
}

/** A text that only rows with this transaction, counterparty or method can satisfy; undefined if there is none. */
export function indexKey({ transaction, counterparty = '', method = '*' }: Conditions): string | undefined {
  const key =
    transaction ?? (ADDRESS.test(counterparty) ? counterparty : method.includes('*') ? undefined : method)
  return key?.toLowerCase()
}

/** The keys under which labels that can match a row are indexed. */
export const indexKeysOf = ({ movements }: ImportRow): ReadonlySet<string> =>
  new Set(
    movements.flatMap(({ transaction, counterparty, method, via }) =>
      [transaction, counterparty, method, via].flatMap((text) => (text == null ? [] : [text.toLowerCase()])),
    ),
  )

/**
 * Sorts by precedence: the first column in which two lines differ decides. A cell without `*` precedes one with `*`, and
 * that an empty one.
 */
export function comparePrecedence(a: Conditions, b: Conditions): number {
  for (const name of CONDITION_COLUMNS) {
    const difference = exactness(b[name]) - exactness(a[name])
    if (difference !== 0) return difference
  }
  return 0
}

const exactness = (cell: string | undefined) => (cell === undefined ? 0 : cell.includes('*') ? 1 : 2)

/** The conditions in words, in the user's spelling. */
export const describeConditions = (conditions: Conditions): string =>
  CONDITION_COLUMNS.flatMap((name) =>
    conditions[name] === undefined ? [] : [`${name} ${conditions[name]}`],
  ).join(', ')
