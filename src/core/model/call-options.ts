import { ExportError } from './errors.ts'
import { suggest } from './suggest.ts'

/** A check of an option's value, and a description of the values that it accepts. */
export type OptionCheck = { readonly accepts: (value: unknown) => boolean; readonly expected: string }

/** Checks for the most common types of option. */
export const OPTION = {
  any: { accepts: () => true, expected: 'anything' },
  text: { accepts: (value) => typeof value === 'string', expected: 'text' },
  flag: { accepts: (value) => typeof value === 'boolean', expected: 'true or false' },
  count: {
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    expected: 'a whole number',
  },
  duration: {
    accepts: (value) => typeof value === 'number' && value >= 0,
    expected: 'a number of milliseconds',
  },
  listener: { accepts: (value) => typeof value === 'function', expected: 'a function' },
  object: { accepts: (value) => typeof value === 'object' && value !== null, expected: 'an object' },
  signal: { accepts: (value) => value instanceof AbortSignal, expected: 'an AbortSignal' },
} as const satisfies Record<string, OptionCheck>

/**
 * Checks the options of a public function. Throws USAGE for an unknown option (with the most similar known
 * one) and for an invalid value. `undefined` counts as not given. Text values are not included in messages,
 * because they may be API keys.
 */
export function checkCallOptions(
  functionName: string,
  options: object,
  checks: Readonly<Record<string, OptionCheck>>,
): void {
  if (typeof options !== 'object' || options === null)
    throw new ExportError('USAGE', `the options of ${functionName} are not an object`, { fix: FIX })
  for (const [name, value] of Object.entries(options)) {
    const check = checks[name]
    if (check === undefined) throw unknownOption(functionName, name, Object.keys(checks))
    if (value === undefined || check.accepts(value)) continue
    const found = typeof value === 'number' ? value : typeof value
    throw new ExportError('USAGE', `${functionName}: ${name} is ${found}, expected ${check.expected}`, {
      fix: FIX,
    })
  }
}

const FIX = "Correct the call: the package's type declarations list the values of each option."

function unknownOption(functionName: string, name: string, known: readonly string[]): ExportError {
  const suggestion = suggest(name, known)
  return new ExportError('USAGE', `${functionName} has no option ${name}`, {
    fix: suggestion === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${suggestion}?`,
  })
}
