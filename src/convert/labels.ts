import { readRecords, recordFault } from '../read/csv-records.ts'
import type { Labels } from './lines.ts'

/** Lines of a file of labels that matched nothing. */
export type UnmatchedLabels = { count: number; first: { line: number; match: string } }

export type LabelFile = {
  labelOf: Labels
  /** What matched no movement that was asked for until now, fees apart; undefined where all matched. */
  unmatched(): UnmatchedLabels | undefined
}

/** What the type of a label may be: one of a program's own, or text of a form, such as an account. */
export type TypeRule = ReadonlySet<string> | AccountRule

/** How accounts of a journal look; `expected` says it in words. */
export type AccountRule = { form: RegExp; expected: string }

/** `match` is as the user wrote it. */
type Label = { line: number; match: string; type: string; isMatched: boolean }

/**
 * Reads the types that a user gives to transactions (by hash), counterparties (by address) or methods: CSV with the columns
 * `match` and `type`. The first of hash, counterparty and method that the file names counts; fees keep their own type.
 * Without a file nothing has a label. Throws USAGE for a type that does not fit the rule; without one any text does.
 */
export async function readLabels(file: string | undefined, rule?: TypeRule): Promise<LabelFile> {
  if (file === undefined) return { labelOf: () => undefined, unmatched: () => undefined }
  const labels = new Map<string, Label>()
  await readRecords(file, ['match', 'type'], ({ line, cells }) => {
    const { match = '', type = '' } = cells
    if (match === '')
      throw recordFault({ file, line }, { found: 'no match', expected: 'a hash, address or method' })
    const mistake = mistakeIn(type, rule)
    if (mistake !== undefined) throw recordFault({ file, line }, mistake)
    labels.set(match.toLowerCase(), { line, match, type, isMatched: false })
  })
  return {
    labelOf: (movements) => (movements[0].type === 'fee' ? undefined : labelIn(labels, movements)),
    unmatched: () => unmatchedIn(labels),
  }
}

function mistakeIn(type: string, rule?: TypeRule): { found: string; expected: string } | undefined {
  if (rule === undefined) return type === '' ? { found: 'no type', expected: 'a type' } : undefined
  if ('form' in rule) {
    const found = type === '' ? 'no type' : `account ${JSON.stringify(type)}`
    return rule.form.test(type) ? undefined : { found, expected: rule.expected }
  }
  if (rule.has(type)) return undefined
  return { found: `type ${type || 'empty'}`, expected: [...rule].sort().join(', ') }
}

function labelIn(labels: ReadonlyMap<string, Label>, movements: Parameters<Labels>[0]): string | undefined {
  const [{ transaction, method }] = movements
  let type: string | undefined
  for (const match of [
    transaction,
    ...movements.map(({ counterparty }) => counterparty),
    method?.toLowerCase(),
  ]) {
    const label = labels.get(match ?? '')
    if (label === undefined) continue
    // What another line is preferred to matches all the same.
    label.isMatched = true
    type ??= label.type
  }
  return type
}

function unmatchedIn(labels: ReadonlyMap<string, Label>): UnmatchedLabels | undefined {
  const [first, ...others] = [...labels.values()]
    .filter(({ isMatched }) => !isMatched)
    .sort((a, b) => a.line - b.line)
  return first && { count: others.length + 1, first: { line: first.line, match: first.match } }
}
