import type { Call, CallOptions } from './call.ts'
import { malformed, readObject } from './read-response.ts'

export type SharedSecretOperations = {
  /**
   * Gets the secret that signs events. Beyond the interface (section 5 shows no signing): a service may not offer it
   * and answer 404.
   */
  getSharedSecret(options?: CallOptions): Promise<string>
  /**
   * Makes a first secret, or a new one in place of the old. Beyond the interface: 404 where it is not offered. It is sent
   * again only where the service surely did not do it; after any other fault it rejects with `mayHaveActed`, and
   * `getSharedSecret` tells which secret counts.
   */
  rotateSharedSecret(options?: CallOptions): Promise<string>
}

/** The operations on the secret that signs events. */
export function sharedSecretOperations(call: Call): SharedSecretOperations {
  return {
    getSharedSecret: async (options) => call(ASK_SECRET, readSecret, options),
    rotateSharedSecret: async (options) => call(ASK_NEW_SECRET, readSecret, options),
  }
}

const ASK_SECRET = {
  method: 'GET',
  pathAndQuery: '/v1/webhooks:getSharedSecret',
  about: 'shared secret of webhooks',
} as const

const ASK_NEW_SECRET = {
  method: 'POST',
  pathAndQuery: '/v1/webhooks:generateOrRotateSharedSecret',
  about: 'changing the shared secret of webhooks',
  once: true,
} as const

function readSecret(body: Buffer): string {
  const { secret } = readObject<{ secret?: unknown }>(body)
  if (typeof secret !== 'string' || secret === '') throw malformed('has no secret', body)
  return secret
}
