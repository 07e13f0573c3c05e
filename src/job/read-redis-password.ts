import { readSecret } from './read-secret.ts'

/**
 * The password of the queue's Redis server from WALLETLAKE_REDIS_PASSWORD, else the content of the file that
 * WALLETLAKE_REDIS_PASSWORD_FILE names; undefined where neither is set. It is taken out of the environment, as the API key is.
 * Throws USAGE, without the password.
 */
export function readRedisPassword(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return readSecret(env, {
    variable: 'WALLETLAKE_REDIS_PASSWORD',
    noun: 'password',
    validate: () => undefined,
  })
}
