import { readSecret } from './read-secret.ts'

/**
 * Reads the API key from WALLETLAKE_API_KEY, or from the file that WALLETLAKE_API_KEY_FILE names. Surrounding whitespace is
 * removed. Returns undefined if neither is set. The variable with the key is removed from the environment, because
 * process reports and child processes would expose it.
 *
 * @throws USAGE if the key is empty, has several lines or characters that an HTTP header cannot carry, or if the file
 *   cannot be read; the message does not contain the key
 */
export function readApiKey(
  env: NodeJS.ProcessEnv,
  onWarning?: (warning: string) => void,
): Promise<string | undefined> {
  return readSecret(env, {
    onWarning,
    variable: 'WALLETLAKE_API_KEY',
    noun: 'key',
    validate: (key) =>
      /^[!-~]([ -~]*[!-~])?$/.test(key) ? undefined : 'characters that an HTTP header cannot carry',
  })
}
