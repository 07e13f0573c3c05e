import { readSecret } from './read-secret.ts'

/**
 * The secret that signs webhook events from WALLETLAKE_WEBHOOK_SECRET, else the content of the file that
 * WALLETLAKE_WEBHOOK_SECRET_FILE names; undefined where neither is set. Throws USAGE, without the secret.
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
