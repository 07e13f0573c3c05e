import { readRecords, recordError } from '../read/csv-records.ts'
import { describeSides, type ProgramTypes } from './csv/types.ts'
import type { ImportRow, Labels, LegSide } from './import-rows.ts'

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

/** A line of the file; `match` keeps the user's spelling. */
type Label = {
  line: number
  match: string
  type: string
  isMatched: boolean
  inapplicable: { count: number; first: string }
}

/** Labels by the lower-case text that they match. A text has several labels if their types apply to different sides. */
type LabelTable = Map<string, Label[]>

/**
 * Reads the user's types from a CSV file with the columns `match` (a transaction hash, counterparty address or method)
 * and `type`. A row gets the first type that it can have, looked up by hash, then counterparty, then method. Fees, and
 * rows for which there is no such type, keep their default type. One `match` may have several types if no row can have
 * two of them. Without a file, no row has a label. Throws USAGE if a type does not satisfy the rule.
 */
export async function readLabels(file: string | undefined, rule: LabelRule): Promise<LabelFile> {
  const table: LabelTable = new Map()
  if (file === undefined)
    return { labelOf: () => undefined, findings: () => ({ unmatched: undefined, inapplicable: [] }) }
  await readRecords(file, ['match', 'type'], ({ line, cells }) => {
    const { match = '', type = '' } = cells
    const problem =
      match === '' ? NO_MATCH : (validateType(type, rule) ?? findConflict(table, { match, type }, rule))
    if (problem !== undefined) throw recordError({ file, line }, problem)
    addLabel(table, { line, match, type, isMatched: false, inapplicable: { count: 0, first: '' } })
  })
  return {
    labelOf: (row) => (row.kind === 'fee' ? undefined : findLabel(row, table, rule)),
    findings: () => {
      const labels = [...table.values()].flat().sort((a, b) => a.line - b.line)
      return { unmatched: listUnmatched(labels), inapplicable: listInapplicable(labels, rule) }
    },
  }
}

type LabelProblem = { found: string; expected: string }

const NO_MATCH: LabelProblem = { found: 'no match', expected: 'a hash, address or method' }

function validateType(type: string, rule: LabelRule): LabelProblem | undefined {
  if ('pattern' in rule) {
    const found = type === '' ? 'no type' : `account ${JSON.stringify(type)}`
    return rule.pattern.test(type) ? undefined : { found, expected: rule.expected }
  }
  if (rule.acceptsAnyText) return type === '' ? { found: 'no type', expected: 'a type' } : undefined
  if (rule.sides.has(type)) return undefined
  return {
    found: `type ${type || 'empty'}`,
    expected: [...rule.sides.keys()].filter(Boolean).sort().join(', '),
  }
}

/** Finds a type of the same `match` that could apply to the same row. */
function findConflict(
  table: LabelTable,
  { match, type }: { match: string; type: string },
  rule: LabelRule,
): LabelProblem | undefined {
  const conflicting = table
    .get(match.toLowerCase())
    ?.find(
      (known) =>
        known.type !== type &&
        LEG_SIDES.some((side) => appliesTo(known.type, side, rule) && appliesTo(type, side, rule)),
    )
  if (conflicting === undefined) return undefined
  return {
    found: `type ${type} for ${match}, which has ${conflicting.type} from line ${conflicting.line}`,
    expected: 'one type for received amounts and one for sent amounts',
  }
}

const LEG_SIDES: readonly LegSide[] = ['in', 'out', 'swap']

function appliesTo(type: string, side: LegSide, rule: LabelRule): boolean {
  if ('pattern' in rule) return true
  return rule.sides.get(type)?.has(side) ?? rule.acceptsAnyText
}

function addLabel(table: LabelTable, label: Label): void {
  const key = label.match.toLowerCase()
  const known = table.get(key) ?? []
  if (!known.some(({ type }) => type === label.type)) table.set(key, [...known, label])
}

function findLabel(row: ImportRow, table: LabelTable, rule: LabelRule): string | undefined {
  const [{ transaction, method }] = row.movements
  const side = row.kind === 'fee' ? 'out' : row.kind
  const inapplicable: Label[] = []
  let found: Label | undefined
  for (const match of [
    transaction,
    ...row.movements.map(({ counterparty }) => counterparty),
    method?.toLowerCase(),
  ]) {
    for (const label of table.get(match ?? '') ?? []) {
      // A label counts as matched even if another label takes precedence.
      label.isMatched = true
      if (!appliesTo(label.type, side, rule) || isUnlabelledOwnTransfer(row, rule)) inapplicable.push(label)
      else found ??= label
    }
  }
  if (found === undefined) for (const label of inapplicable) countInapplicable(label, transaction)
  return found?.type
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
