import { ExportError } from '../core/model/errors.ts'
import { suggest } from '../core/model/suggest.ts'

/** Returns the error for an invalid command line. `fix` replaces the default fix, which refers to the help. */
export function usageError(message: string, fix?: string): ExportError {
  return new ExportError('USAGE', message, { fix })
}

/** Returns the error for an unknown command or option, with a suggestion if a known one has a similar name. */
export function unknownError(
  kind: 'command' | 'option',
  word: string,
  known: readonly string[],
): ExportError {
  const suggestion = suggest(word, known)
  const hint = suggestion === undefined ? '' : ` (Did you mean ${suggestion}?)`
  const isKey = kind === 'option' && /key|token|secret|password/i.test(word)
  return usageError(`unknown ${kind} '${word}'${hint}`, isKey ? KEY_FIX : undefined)
}

const KEY_FIX =
  'Set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds the key; the command line takes none.'
