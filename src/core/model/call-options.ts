import { ExportError } from './errors.ts'
import { suggest } from './suggest.ts'

/** A test of an option's value, and what it has to be, in words. */
export type OptionCheck = { readonly accepts: (value: unknown) => boolean; readonly expected: string }

/** Tests of the values that callers of the library give most. */
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
 * Refuses options that a function does not have, naming the nearest that it has, and values that they cannot have;
 * undefined counts as not given. No text is shown: it may be a key. Throws USAGE.
 */
export function checkCallOptions(
  functionName: string,
  options: object,
  checks: Readonly<Record<string, OptionCheck>>,
): void {
  if (typeof options !== 'object' || options === null)
    throw new ExportError('USAGE', `the options of ${functionName} are no object`, { fix: FIX })
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

const FIX = 'Correct the call: the types of the package say what each option may be.'

function unknownOption(functionName: string, name: string, known: readonly string[]): ExportError {
  const suggestion = suggest(name, known)
  return new ExportError('USAGE', `${functionName} has no option ${name}`, {
    fix: suggestion === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${suggestion}?`,
  })
}
