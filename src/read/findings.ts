import { writeJson } from '../core/platform/json-text.ts'

/** Problems told in full; the rest is only counted. */
const MAX_LISTED = 50

/** What a verification has looked at and what it found, gathered while it goes on. */
export type Findings = {
  /** Counts one check, and its problem where it failed. Returns whether it held. */
  expect(holds: boolean, problem: () => string): boolean
  /** Adds a problem of a check that is counted already: one line, place first. */
  addProblem(text: string): void
  /** Counts several further problems that are not told. */
  addUnlisted(count: number): void
  readonly checks: number
  readonly count: number
  /** At most 50 lines, then one that says how many more there are. */
  list(): readonly string[]
}

/** An empty list of findings. */
export function openFindings(): Findings {
  const lines: string[] = []
  const counts = { checks: 0, problems: 0 }
  return {
    expect(holds, problem) {
      counts.checks += 1
      if (!holds) this.addProblem(problem())
      return holds
    },
    addProblem(text) {
      counts.problems += 1
      if (lines.length < MAX_LISTED) lines.push(text.replaceAll(/\s*\n\s*/g, ' '))
    },
    addUnlisted(count) {
      counts.problems += count
    },
    get checks() {
      return counts.checks
    },
    get count() {
      return counts.problems
    },
    list: () => {
      const unlisted = counts.problems - lines.length
      return unlisted > 0 ? [...lines, `and ${unlisted} more`] : [...lines]
    },
  }
}

/** A value as a message shows it: short, quoted where it is text. */
export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'bigint' ? String(value) : textOf(value)
  return text.length > 120 ? `${text.slice(0, 117)}...` : text
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, bigintAsText) ?? String(value)
  } catch {
    return writeJson(value)
  }
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
