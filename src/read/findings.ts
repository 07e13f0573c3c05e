import { writeJson } from '../core/platform/json-text.ts'

/** Maximum number of problems that are listed; further ones are only counted. */
const MAX_LISTED = 50

/** Checks and problems of a verification, collected while it runs. */
export type Findings = {
  /** Counts a check, and adds its problem if it failed. Returns `holds`. */
  expect(holds: boolean, problem: () => string): boolean
  /** Counts a check of a value, which fails unless it is the expected one or `holds`. */
  expectValue(location: string, name: string, value: CheckedValue): void
  /** Counts checks that passed. */
  pass(checks?: number): void
  /** Adds a problem of a check that is already counted: one line that starts with the location. */
  addProblem(text: string): void
  /** Counts further problems without listing them. */
  addUnlisted(count: number): void
  readonly checks: number
  readonly count: number
  /** At most 50 lines, then one with the number of further problems. */
  list(): readonly string[]
}

/** A value for a message; `expected` may be a description. */
type CheckedValue = {
  readonly expected: unknown
  readonly found: unknown
  /** @default whether both are equal */
  readonly holds?: boolean
}

/** Creates an empty list of findings. */
export function openFindings(): Findings {
  const lines: string[] = []
  const counts = { checks: 0, problems: 0 }
  return {
    expect(holds, problem) {
      counts.checks += 1
      if (!holds) this.addProblem(problem())
      return holds
    },
    expectValue(location, name, { expected, found, holds = expected === found }) {
      this.expect(
        holds,
        () => `${location}: ${name}: expected ${formatValue(expected)}, found ${formatValue(found)}`,
      )
    },
    pass(checks = 1) {
      counts.checks += checks
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

/** Formats a value for a message: truncated, and quoted if it is text. */
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
