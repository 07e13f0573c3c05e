import { readSecret } from './read-secret.ts'

/**
 * Reads the password of the Redis server from WALLETLAKE_REDIS_PASSWORD, or from the file that WALLETLAKE_REDIS_PASSWORD_FILE
 * names. Returns undefined if neither is set. The variable with the password is removed from the environment.
 *
 * @throws USAGE if the value is invalid; the message does not contain it
 */
export function readRedisPassword(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return readSecret(env, {
    variable: 'WALLETLAKE_REDIS_PASSWORD',
    noun: 'password',
    validate: () => undefined,
  })
}
