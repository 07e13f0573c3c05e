import { ExportError } from './errors.ts'

/** What an option was given, what it takes, and, where that is not enough, what to do. */
export type InvalidOption = { found: string; expected: string; fix?: string }

/** The failure of an option (named without its dashes) that was given something else than it takes: USAGE. */
export function optionError(option: string, { found, expected, fix }: InvalidOption): ExportError {
  const message = `--${option}: found ${found === '' ? 'nothing' : found}, expected ${expected}`
  return new ExportError('USAGE', message, { fix })
}
