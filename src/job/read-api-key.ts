import { readSecret } from './read-secret.ts'

/**
 * The API key from WALLETLAKE_API_KEY, else the content of the file that WALLETLAKE_API_KEY_FILE names, the blanks
 * and line ends around it removed; undefined where neither is set. The key is taken out of the environment, which
 * process reports and children show.
 *
 * Throws USAGE, without the key, where the key is empty, has several lines or does not fit into an HTTP header, or the
 * file can not be read.
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
      /^[!-~]([ -~]*[!-~])?$/.test(key) ? undefined : 'characters that an HTTP header can not carry',
  })
}
