import { ExportError } from './errors.ts'

/** The value that an option was given, the values that it accepts, and the fix if that is not enough. */
export type InvalidOption = { found: string; expected: string; fix?: string }

/**
 * Creates a USAGE error for an invalid option value.
 *
 * @param option Name of the option, without dashes.
 */
export function optionError(option: string, { found, expected, fix }: InvalidOption): ExportError {
  const message = `--${option}: found ${found === '' ? 'nothing' : found}, expected ${expected}`
  return new ExportError('USAGE', message, { fix })
}
