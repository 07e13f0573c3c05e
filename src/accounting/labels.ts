import { readRecords, recordFault } from '../read/csv-records.ts'
import { describeLegs, type ProgramTypes } from './csv/types.ts'
import type { Labels, Leg, Line } from './import-rows.ts'

/** Lines of a file of labels that matched nothing. */
type UnmatchedLabels = { count: number; first: { line: number; match: string } }

/** A label that matched lines which cannot have its type; those keep their own type. */
type MisfitLabel = {
  /** Line of the file of labels. */
  line: number
  type: string
  /** What the type needs, in words. */
  needs: string
  /** Lines that it was not given to. */
  count: number
  /** Hash of the first transaction among them. */
  first: string
}

/** What became of a file of labels. */
export type LabelFindings = {
  /** What matched no movement that was asked for until now, fees apart; undefined where all matched. */
  unmatched: UnmatchedLabels | undefined
  /** In the order of the file. */
  misfits: readonly MisfitLabel[]
}

export type LabelFile = { labelOf: Labels; findings(): LabelFindings }

/** What the type of a label may be: one of a program's own, or text of a form, such as an account. */
export type TypeRule = ProgramTypes | AccountRule

/** How accounts of a journal look; `expected` says it in words. */
export type AccountRule = { form: RegExp; expected: string }

/** `match` is as the user wrote it. */
type Label = {
  line: number
  match: string
  type: string
  isMatched: boolean
  misfits: { count: number; first: string }
}

/** By what they match, in lower case: several where each takes legs of its own. */
type LabelTable = Map<string, Label[]>

/**
 * Reads the types that a user gives to transactions (by hash), counterparties (by address) or methods: CSV with the columns
 * `match` and `type`. Of hash, counterparty and method, in this order, the first counts that has a type which the line can
 * have; a line that none of them fits keeps its own type, and so do fees. One `match` may have several types, if no line can
 * have two of them. Without a file nothing has a label. Throws USAGE for a type that does not fit the rule.
 */
export async function readLabels(file: string | undefined, rule: TypeRule): Promise<LabelFile> {
  const table: LabelTable = new Map()
  if (file === undefined)
    return { labelOf: () => undefined, findings: () => ({ unmatched: undefined, misfits: [] }) }
  await readRecords(file, ['match', 'type'], ({ line, cells }) => {
    const { match = '', type = '' } = cells
    const fault =
      match === '' ? NO_MATCH : (mistakeIn(type, rule) ?? conflictIn(table, { match, type }, rule))
    if (fault !== undefined) throw recordFault({ file, line }, fault)
    addLabel(table, { line, match, type, isMatched: false, misfits: { count: 0, first: '' } })
  })
  return {
    labelOf: (line) => (line.kind === 'fee' ? undefined : labelFor(line, table, rule)),
    findings: () => {
      const labels = [...table.values()].flat().sort((a, b) => a.line - b.line)
      return { unmatched: unmatchedIn(labels), misfits: misfitsIn(labels, rule) }
    },
  }
}

type Mistake = { found: string; expected: string }

const NO_MATCH: Mistake = { found: 'no match', expected: 'a hash, address or method' }

function mistakeIn(type: string, rule: TypeRule): Mistake | undefined {
  if ('form' in rule) {
    const found = type === '' ? 'no type' : `account ${JSON.stringify(type)}`
    return rule.form.test(type) ? undefined : { found, expected: rule.expected }
  }
  if (rule.takesAnyText) return type === '' ? { found: 'no type', expected: 'a type' } : undefined
  if (rule.legs.has(type)) return undefined
  return {
    found: `type ${type || 'empty'}`,
    expected: [...rule.legs.keys()].filter(Boolean).sort().join(', '),
  }
}

/** Two types of one `match` that a line could both have. */
function conflictIn(
  table: LabelTable,
  { match, type }: { match: string; type: string },
  rule: TypeRule,
): Mistake | undefined {
  const other = table
    .get(match.toLowerCase())
    ?.find(
      (known) =>
        known.type !== type && LEGS.some((leg) => fits(known.type, leg, rule) && fits(type, leg, rule)),
    )
  if (other === undefined) return undefined
  return {
    found: `type ${type} for ${match}, which has ${other.type} by line ${other.line}`,
    expected: 'one type for what comes in, and one for what goes out',
  }
}

const LEGS: readonly Leg[] = ['in', 'out', 'swap']

function fits(type: string, leg: Leg, rule: TypeRule): boolean {
  if ('form' in rule) return true
  return rule.legs.get(type)?.has(leg) ?? rule.takesAnyText
}

function addLabel(table: LabelTable, label: Label): void {
  const key = label.match.toLowerCase()
  const known = table.get(key) ?? []
  if (!known.some(({ type }) => type === label.type)) table.set(key, [...known, label])
}

function labelFor(line: Line, table: LabelTable, rule: TypeRule): string | undefined {
  const [{ transaction, method }] = line.movements
  const leg = line.kind === 'fee' ? 'out' : line.kind
  const refused: Label[] = []
  let found: Label | undefined
  for (const match of [
    transaction,
    ...line.movements.map(({ counterparty }) => counterparty),
    method?.toLowerCase(),
  ]) {
    for (const label of table.get(match ?? '') ?? []) {
      // A label that another one is preferred to matches all the same.
      label.isMatched = true
      if (!fits(label.type, leg, rule) || isRefusedOwn(line, rule)) refused.push(label)
      else found ??= label
    }
  }
  if (found === undefined) for (const label of refused) countMisfit(label, transaction)
  return found?.type
}

const isRefusedOwn = ({ isOwn }: Line, rule: TypeRule) =>
  isOwn && 'labelsOwnTransfers' in rule && !rule.labelsOwnTransfers

function countMisfit({ misfits }: Label, transaction: string): void {
  if (misfits.count === 0) misfits.first = transaction
  misfits.count += 1
}

function unmatchedIn(labels: readonly Label[]): UnmatchedLabels | undefined {
  const [first, ...others] = labels.filter(({ isMatched }) => !isMatched)
  return first && { count: others.length + 1, first: { line: first.line, match: first.match } }
}

function misfitsIn(labels: readonly Label[], rule: TypeRule): MisfitLabel[] {
  return labels.flatMap(({ line, type, misfits: { count, first } }) =>
    count === 0 ? [] : [{ line, type, needs: needsOf(type, rule), count, first }],
  )
}

function needsOf(type: string, rule: TypeRule): string {
  const legs = 'legs' in rule ? rule.legs.get(type) : undefined
  const needs = describeLegs(legs ?? new Set(LEGS))
  return 'labelsOwnTransfers' in rule && !rule.labelsOwnTransfers
    ? `${needs}, not between own wallets`
    : needs
}
