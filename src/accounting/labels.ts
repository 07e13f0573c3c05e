import { suggest } from '../core/model/suggest.ts'
import { type CsvRecord, readRecords, recordError } from '../read/csv-records.ts'
import { describeSides, type ProgramTypes } from './csv/types.ts'
import type { ImportRow, Labels, LegSide } from './import-rows.ts'
import {
  CONDITION_COLUMNS,
  type Conditions,
  comparePrecedence,
  conditionTest,
  describeConditions,
  indexKey,
  indexKeysOf,
  type LabelProblem,
  parseConditions,
} from './label-conditions.ts'

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
  const known = new Map<string, Label[]>()
  await readRecords(file, ['type'], ({ line, cells }) => {
    const unknown = Object.keys(cells).find((column) => column !== '' && !COLUMNS.includes(column))
    if (unknown !== undefined)
      throw recordError({ file, line: 1 }, { found: `column ${unknown}`, expected: COLUMNS.join(', ') })
    const label = parseLabel({ line, cells }, rule)
    if ('found' in label) throw recordError({ file, line }, label)
    const key = JSON.stringify(label.conditions).toLowerCase()
    const equals = known.get(key) ?? []
    const conflict = equals.find((other) => canConflict(other, label, rule))
    if (conflict !== undefined) throw recordError({ file, line }, describeConflict(label, conflict))
    if (equals.some(({ type }) => type === label.type)) return
    known.set(key, [...equals, label])
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
  const types = 'sides' in rule ? [...rule.sides.keys()].filter((one) => appliesTo(one, direction, rule)) : []
  return {
    found: `type ${type} with direction ${direction}`,
    expected: `a type for ${direction === 'in' ? 'received' : 'sent'} amounts: ${types.filter(Boolean).sort().join(', ')}`,
  }
}

/** Whether the types of two labels with the same conditions could apply to the same row. */
const canConflict = (known: Label, { type }: Label, rule: LabelRule): boolean =>
  known.type !== type &&
  LEG_SIDES.some((side) => appliesTo(known.type, side, rule) && appliesTo(type, side, rule))

const describeConflict = ({ type, match }: Label, known: Label): LabelProblem => ({
  found: `type ${type} for ${match}, which has ${known.type} from line ${known.line}`,
  expected: 'one type for received amounts and one for sent amounts',
})

const LEG_SIDES: readonly LegSide[] = ['in', 'out', 'swap']

function appliesTo(type: string, side: LegSide, rule: LabelRule): boolean {
  if ('pattern' in rule) return true
  return rule.sides.get(type)?.has(side) ?? rule.acceptsAnyText
}

function findLabel(row: ImportRow, index: LabelIndex, rule: LabelRule): string | undefined {
  const side = row.kind === 'fee' ? 'out' : row.kind
  const inapplicable: Label[] = []
  let found: Label | undefined
  for (const label of matchingLabels(row, index)) {
    // A label counts as matched even if another label takes precedence.
    label.isMatched = true
    if (!appliesTo(label.type, side, rule) || isUnlabelledOwnTransfer(row, rule)) inapplicable.push(label)
    else found ??= label
  }
  const [{ transaction }] = row.movements
  if (found === undefined) for (const label of inapplicable) countInapplicable(label, transaction)
  return found?.type
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
