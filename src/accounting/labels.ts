import { suggest } from '../core/model/suggest.ts'
import { DAY_MS, isDay, parseUtc } from '../core/model/utc.ts'
import { wellKnownTokens } from '../core/model/well-known-tokens.ts'
import { type CsvRecord, readRecords, recordError } from '../read/csv-records.ts'
import { describeSides, type ProgramTypes } from './csv/preset.ts'
import type { ImportRow, Labels, LegSide } from './import-rows.ts'
import type { Movement } from './movement.ts'
import { tickerName, withoutParameters } from './names/names.ts'

/** Labels that matched nothing. */
type UnmatchedLabels = { count: number; first: { line: number; match: string } }

/** A label that matched rows which cannot have its type. These rows keep their default type. */
type InapplicableLabel = {
  /** Line number in the file of labels. */
  line: number
  type: string
  /** The amounts that the type needs, in words. */
  needs: string
  /** Number of rows that did not get the label. */
  count: number
  /** Transaction hash of the first of these rows. */
  first: string
}

/** Problems with a file of labels. */
export type LabelFindings = {
  /** Labels that have matched no row so far, fees excluded; undefined if all have. */
  unmatched: UnmatchedLabels | undefined
  /** In the order of the file. */
  inapplicable: readonly InapplicableLabel[]
}

export type LabelFile = { labelOf: Labels; findings(): LabelFindings }

/** What the type of a label may be: one of the program's types, or, for journals, an account. */
export type LabelRule = ProgramTypes | AccountRule

/** The syntax of account names in a journal; `expected` describes it in words. */
export type AccountRule = { pattern: RegExp; expected: string }

/** A line of the file; `match` describes its conditions in the user's spelling. */
type Label = {
  line: number
  match: string
  conditions: Conditions
  type: string
  matches: (row: ImportRow) => boolean
  isMatched: boolean
  inapplicable: { count: number; first: string }
}

/** Labels by their `indexKey`; those without a key are under ''. */
type LabelIndex = ReadonlyMap<string, readonly Label[]>

const TEXT_COLUMNS = ['transaction', 'counterparty', 'method', 'token', 'wallet'] as const
type TextColumn = (typeof TEXT_COLUMNS)[number]

/** The columns that select rows, in order of precedence. */
const CONDITION_COLUMNS = [...TEXT_COLUMNS, 'direction', 'from', 'until'] as const

const COLUMNS: readonly string[] = ['match', ...CONDITION_COLUMNS, 'type', 'note']

/**
 * Reads the user's types from a CSV file with the column `type` and columns of conditions; see `parseConditions`. A row
 * gets the type of the first line, in order of precedence, whose conditions it satisfies and whose type it can have. Fees,
 * and rows for which there is no such type, keep their default type. Lines with the same conditions may have several
 * types if no row can have two of them. Without a file, no row has a label. Throws USAGE if a cell is invalid, a column is
 * unknown, or a type does not satisfy the rule.
 */
export async function readLabels(file: string | undefined, rule: LabelRule): Promise<LabelFile> {
  if (file === undefined)
    return { labelOf: () => undefined, findings: () => ({ unmatched: undefined, inapplicable: [] }) }
  const labels: Label[] = []
  const byConditions = new Map<string, Label[]>()
  await readRecords(file, ['type'], (record) => {
    const unknown = Object.keys(record.cells).find((column) => column !== '' && !COLUMNS.includes(column))
    if (unknown !== undefined) throw recordError(file, 1, `column ${unknown}`, COLUMNS.join(', '))
    const label = parseLabel(record, rule)
    if ('found' in label) throw record.error(label.found, label.expected)
    const key = JSON.stringify(label.conditions).toLowerCase()
    const equals = byConditions.get(key) ?? []
    const conflict = equals.find((other) => canConflict(other, label, rule))
    if (conflict !== undefined)
      throw record.error(
        `type ${label.type} for ${label.match}, which has ${conflict.type} from line ${conflict.line}`,
        'one type for received amounts and one for sent amounts',
      )
    if (equals.some(({ type }) => type === label.type)) return
    byConditions.set(key, [...equals, label])
    labels.push(label)
  })
  const index = indexLabels(labels)
  return {
    labelOf: (row) => (row.kind === 'fee' ? undefined : findLabel(row, index, rule)),
    findings: () => ({ unmatched: listUnmatched(labels), inapplicable: listInapplicable(labels, rule) }),
  }
}

function indexLabels(labels: readonly Label[]): LabelIndex {
  const index = new Map<string, Label[]>()
  for (const label of labels) {
    const key = indexKey(label.conditions) ?? ''
    const labelsOfKey = index.get(key) ?? []
    labelsOfKey.push(label)
    index.set(key, labelsOfKey)
  }
  return index
}

function parseLabel({ line, cells }: CsvRecord, rule: LabelRule): Label | LabelProblem {
  const { match = '', type = '' } = cells
  const conditions = parseConditions(cells)
  if ('found' in conditions) return conditions
  const problem = validateType(type, rule) ?? validateDirection(type, conditions, rule)
  if (problem !== undefined) return problem
  const isOnlyMatch = match !== '' && Object.keys(conditions).length === 1
  return {
    line,
    type,
    conditions,
    match: isOnlyMatch ? match : describeConditions(conditions),
    matches: conditionTest(conditions),
    isMatched: false,
    inapplicable: { count: 0, first: '' },
  }
}

function validateType(type: string, rule: LabelRule): LabelProblem | undefined {
  if ('pattern' in rule) {
    const found = type === '' ? 'no type' : `account ${JSON.stringify(type)}`
    return rule.pattern.test(type) ? undefined : { found, expected: rule.expected }
  }
  if (rule.acceptsAnyText) return type === '' ? { found: 'no type', expected: 'a type' } : undefined
  if (rule.sides.has(type)) return undefined
  const types = [...rule.sides.keys()].filter(Boolean).sort()
  const suggestion = suggest(type, types)
  const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
  return { found: `type ${type || 'empty'}${hint}`, expected: types.join(', ') }
}

/** Finds a type that no row of the direction can have. */
function validateDirection(
  type: string,
  { direction }: Conditions,
  rule: LabelRule,
): LabelProblem | undefined {
  if (direction !== 'in' && direction !== 'out') return undefined
  if (appliesTo(type, direction, rule)) return undefined
  const types =
    'sides' in rule ? [...rule.sides.keys()].filter((other) => appliesTo(other, direction, rule)) : []
  return {
    found: `type ${type} with direction ${direction}`,
    expected: `a type for ${direction === 'in' ? 'received' : 'sent'} amounts: ${types.filter(Boolean).sort().join(', ')}`,
  }
}

/** Whether the types of two labels with the same conditions could apply to the same row. */
const canConflict = (earlier: Label, { type }: Label, rule: LabelRule): boolean =>
  earlier.type !== type &&
  LEG_SIDES.some((side) => appliesTo(earlier.type, side, rule) && appliesTo(type, side, rule))

const LEG_SIDES: readonly LegSide[] = ['in', 'out', 'swap']

function appliesTo(type: string, side: LegSide, rule: LabelRule): boolean {
  if ('pattern' in rule) return true
  return rule.sides.get(type)?.has(side) ?? rule.acceptsAnyText
}

function findLabel(row: ImportRow, index: LabelIndex, rule: LabelRule): string | undefined {
  const side = row.kind === 'fee' ? 'out' : row.kind
  const inapplicable: Label[] = []
  let applicable: Label | undefined
  for (const label of matchingLabels(row, index)) {
    // A label counts as matched even if another label takes precedence.
    label.isMatched = true
    if (!appliesTo(label.type, side, rule) || isUnlabelledOwnTransfer(row, rule)) inapplicable.push(label)
    else applicable ??= label
  }
  const [{ transaction }] = row.movements
  if (applicable === undefined) for (const label of inapplicable) countInapplicable(label, transaction)
  return applicable?.type
}

/** The labels whose conditions a row satisfies, in order of precedence. */
function matchingLabels(row: ImportRow, index: LabelIndex): Label[] {
  const candidates = ['', ...indexKeysOf(row)].flatMap((key) => index.get(key) ?? [])
  const matching = candidates.filter(({ matches }) => matches(row))
  return matching.sort((a, b) => comparePrecedence(a.conditions, b.conditions) || a.line - b.line)
}

const isUnlabelledOwnTransfer = ({ isOwn }: ImportRow, rule: LabelRule) =>
  isOwn && 'labelsOwnTransfers' in rule && !rule.labelsOwnTransfers

function countInapplicable({ inapplicable }: Label, transaction: string): void {
  if (inapplicable.count === 0) inapplicable.first = transaction
  inapplicable.count += 1
}

function listUnmatched(labels: readonly Label[]): UnmatchedLabels | undefined {
  const [first, ...others] = labels.filter(({ isMatched }) => !isMatched)
  return first && { count: others.length + 1, first: { line: first.line, match: first.match } }
}

function listInapplicable(labels: readonly Label[], rule: LabelRule): InapplicableLabel[] {
  return labels.flatMap(({ line, type, inapplicable: { count, first } }) =>
    count === 0 ? [] : [{ line, type, needs: requirementOf(type, rule), count, first }],
  )
}

function requirementOf(type: string, rule: LabelRule): string {
  const sides = 'sides' in rule ? rule.sides.get(type) : undefined
  const needs = describeSides(sides ?? new Set(LEG_SIDES))
  return 'labelsOwnTransfers' in rule && !rule.labelsOwnTransfers
    ? `${needs}, not between own wallets`
    : needs
}

/** The cells of a line that select rows; empty cells are absent. A row has to satisfy all of them. */
type Conditions = Readonly<Partial<Record<(typeof CONDITION_COLUMNS)[number], string>>>

type LabelProblem = { found: string; expected: string }

type Cells = Readonly<Record<string, string>>

/** A transaction hash, or the id of an import or export of the C-Chain (base 58). */
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9a-z]{40,60})$/i
const ADDRESS = /^0x[0-9a-f]{40}$/i

/** Returns the conditions of a line. `match` is a transaction, the address of a counterparty, or a method. */
function parseConditions(untrimmed: Cells): Conditions | LabelProblem {
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
  method: ({ method }) => [method, method && withoutParameters(method)],
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
function conditionTest(conditions: Conditions): (row: ImportRow) => boolean {
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
      const position = lower.indexOf(part, at)
      if (position === -1) return false
      at = position + part.length
    }
    return lower.length - end.length >= at && lower.endsWith(end)
  }
}

/** A text that only rows with this transaction, counterparty or method can satisfy; undefined if there is none. */
function indexKey({ transaction, counterparty = '', method = '*' }: Conditions): string | undefined {
  const key =
    transaction ?? (ADDRESS.test(counterparty) ? counterparty : method.includes('*') ? undefined : method)
  return key?.toLowerCase()
}

/** The keys under which labels that can match a row are indexed. */
const indexKeysOf = ({ movements }: ImportRow): ReadonlySet<string> =>
  new Set(
    movements.flatMap(({ transaction, counterparty, method, via }) =>
      [transaction, counterparty, via, method, method && withoutParameters(method)].flatMap((text) =>
        text == null ? [] : [text.toLowerCase()],
      ),
    ),
  )

/**
 * Sorts by precedence: the first column in which two lines differ decides. A cell without `*` precedes one with `*`, and
 * that an empty one.
 */
function comparePrecedence(a: Conditions, b: Conditions): number {
  for (const name of CONDITION_COLUMNS) {
    const difference = exactness(b[name]) - exactness(a[name])
    if (difference !== 0) return difference
  }
  return 0
}

const exactness = (cell: string | undefined) => (cell === undefined ? 0 : cell.includes('*') ? 1 : 2)

/** The conditions in words, in the user's spelling. */
const describeConditions = (conditions: Conditions): string =>
  CONDITION_COLUMNS.flatMap((name) =>
    conditions[name] === undefined ? [] : [`${name} ${conditions[name]}`],
  ).join(', ')
