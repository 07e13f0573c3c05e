import type { Call, CallOptions } from './call.ts'
import { malformedResponse, readObject } from './read-response.ts'

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
    getSharedSecret: async (options) => call(GET_SECRET_SPEC, readSecret, options),
    rotateSharedSecret: async (options) => call(ROTATE_SECRET_SPEC, readSecret, options),
  }
}

const GET_SECRET_SPEC = {
  method: 'GET',
  pathAndQuery: '/v1/webhooks:getSharedSecret',
  label: 'shared secret of webhooks',
} as const

const ROTATE_SECRET_SPEC = {
  method: 'POST',
  pathAndQuery: '/v1/webhooks:generateOrRotateSharedSecret',
  label: 'changing the shared secret of webhooks',
  nonIdempotent: true,
} as const

function readSecret(body: Buffer): string {
  const { secret } = readObject<{ secret?: unknown }>(body)
  if (typeof secret !== 'string' || secret === '') throw malformedResponse('has no secret', body)
  return secret
}
