import { readSecret } from './read-secret.ts'

/**
 * Reads the API key from WALLETLAKE_API_KEY, or from the file that WALLETLAKE_API_KEY_FILE names. Surrounding whitespace is
 * removed. Returns undefined if neither is set. The variable with the key is removed from the environment, because
 * process reports and child processes would expose it.
 *
 * @throws USAGE if the key is empty, has several lines, more than the key in it or characters that an HTTP header cannot
 *   carry, or if the file cannot be read; the message does not contain the key
 */
export function readApiKey(
  env: NodeJS.ProcessEnv,
  onWarning?: (warning: string) => void,
): Promise<string | undefined> {
  return readSecret(env, {
    onWarning,
    variable: 'WALLETLAKE_API_KEY',
    noun: 'key',
    validate: findKeyMistake,
  })
}

/** Returns what a value contains that no key does, without the value; undefined if it may be a key. */
function findKeyMistake(value: string): string | undefined {
  if (NAMED_SETTING.test(value) || NAMED_VARIABLE.test(value))
    return 'the name of a variable or setting before the key'
  if (/^["'`]|["'`]$/.test(value)) return 'quotes around the key'
  // The value of the header Authorization begins with a scheme and a blank.
  if (/\s/.test(value.replace(/^[\w-]+ (?=\S)/, ''))) return 'a blank in the key'
  return /^[ -~]+$/.test(value) ? undefined : 'characters that an HTTP header cannot carry'
}

/** Such as `apikey=…` and `api_key: …`. Not `id:secret`, which may be a key, nor a key that ends in the padding of base64. */
const NAMED_SETTING = /^(export |set )?\s*\w*(key|token|secret)\w*(\s*=\s*|\s*:\s+)[^=\s]/i
const NAMED_VARIABLE = /^(export |set )?[A-Z][A-Z0-9_]*=[^=\s]/
