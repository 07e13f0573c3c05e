import { readSecret } from './read-secret.ts'

/**
 * Reads the signing secret of webhook events from WALLETLAKE_WEBHOOK_SECRET, or from the file that
 * WALLETLAKE_WEBHOOK_SECRET_FILE names. Returns undefined if neither is set. The variable with the secret is removed from
 * the environment.
 *
 * @throws USAGE if the value is invalid; the message does not contain it
 */
export function readWebhookSecret(
  env: NodeJS.ProcessEnv,
  onWarning?: (warning: string) => void,
): Promise<string | undefined> {
  return readSecret(env, {
    onWarning,
    variable: 'WALLETLAKE_WEBHOOK_SECRET',
    noun: 'secret',
    validate: () => undefined,
  })
}
