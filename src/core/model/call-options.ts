import { ExportError } from './errors.ts'
import { nearest } from './suggest.ts'

/** A test of an option's value, and what it has to be, in words. */
export type OptionCheck = { readonly passes: (value: unknown) => boolean; readonly expected: string }

/** Tests of the values that callers of the library give most. */
export const OPTION = {
  any: { passes: () => true, expected: 'anything' },
  text: { passes: (value) => typeof value === 'string', expected: 'text' },
  flag: { passes: (value) => typeof value === 'boolean', expected: 'true or false' },
  count: { passes: (value) => Number.isSafeInteger(value) && Number(value) >= 0, expected: 'a whole number' },
  duration: {
    passes: (value) => typeof value === 'number' && value >= 0,
    expected: 'a number of milliseconds',
  },
  listener: { passes: (value) => typeof value === 'function', expected: 'a function' },
  object: { passes: (value) => typeof value === 'object' && value !== null, expected: 'an object' },
  signal: { passes: (value) => value instanceof AbortSignal, expected: 'an AbortSignal' },
} as const satisfies Record<string, OptionCheck>

/**
 * Refuses options that a function does not have, naming the nearest that it has, and values that they cannot have;
 * undefined counts as not given. No text is shown: it may be a key. Throws USAGE.
 */
export function checkCallOptions(
  of: string,
  given: object,
  known: Readonly<Record<string, OptionCheck>>,
): void {
  if (typeof given !== 'object' || given === null)
    throw new ExportError('USAGE', `the options of ${of} are no object`, { fix: FIX })
  for (const [name, value] of Object.entries(given)) {
    const check = known[name]
    if (check === undefined) throw unknownOption(of, name, Object.keys(known))
    if (value === undefined || check.passes(value)) continue
    const found = typeof value === 'number' ? value : typeof value
    throw new ExportError('USAGE', `${of}: ${name} is ${found}, expected ${check.expected}`, { fix: FIX })
  }
}

const FIX = 'Correct the call: the types of the package say what each option may be.'

function unknownOption(of: string, name: string, known: readonly string[]): ExportError {
  const near = nearest(name, known)
  return new ExportError('USAGE', `${of} has no option ${name}`, {
    fix: near === undefined ? `It has ${known.join(', ')}.` : `Did you mean ${near}?`,
  })
}
