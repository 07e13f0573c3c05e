import { ExportError } from '../core/model/errors.ts'
import { suggest } from '../core/model/suggest.ts'

/** Returns the error for an invalid command line. `fix` replaces the default fix, which refers to the help. */
export function usageError(message: string, fix?: string): ExportError {
  return new ExportError('USAGE', message, { fix })
}

/** Names that users expect from other programs or commands, and the names that commands may have for the same. */
const SYNONYMS: Readonly<Record<string, string>> = {
  export: 'run',
  fetch: 'run',
  sync: 'run',
  download: 'run',
  '--out': '--output',
  '--output': '--out',
  '--from': '--start-block',
  '--until': '--end-block',
}

type Unknown = {
  kind: 'command' | 'option'
  word: string
  choices: readonly string[]
  /** @default the help of the command */
  fix?: string | undefined
}

/** Returns the error for an unknown command or option, with a suggestion if a choice has a similar name or meaning. */
export function unknownError({ kind, word, choices, fix }: Unknown): ExportError {
  const synonym = choices.find((name) => name === SYNONYMS[word])
  const suggestion = synonym ?? (fix === undefined ? suggest(word, choices) : undefined)
  const hint = suggestion === undefined ? '' : ` (Did you mean ${suggestion}?)`
  const isKey = kind === 'option' && /key|token|secret|password/i.test(word)
  return usageError(`unknown ${kind} '${word}'${hint}`, isKey ? KEY_FIX : fix)
}

const KEY_FIX =
  'Set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds the key; the command line takes none.'
