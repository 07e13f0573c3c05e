import type { Call, CallOptions } from './call.ts'
import { malformedResponse, readObject } from './read-response.ts'

export type SharedSecretOperations = {
  /**
   * Gets the secret that signs events. Beyond the interface (section 5 does not describe signing): a service
   * may respond with 404.
   */
  getSharedSecret(options?: CallOptions): Promise<string>
  /**
   * Creates the secret, or replaces it. Beyond the interface: a service may respond with 404. Not idempotent:
   * it is retried only if the service certainly did not process it. After any other error it rejects with
   * `mayHaveActed`; `getSharedSecret` then returns the current secret.
   */
  rotateSharedSecret(options?: CallOptions): Promise<string>
}

/** Creates the operations on the secret that signs events. */
export function sharedSecretOperations(call: Call): SharedSecretOperations {
  return {
    getSharedSecret: async (options) => call(GET_SECRET_SPEC, readSecret, options),
    rotateSharedSecret: async (options) => call(ROTATE_SECRET_SPEC, readSecret, options),
  }
}

const GET_SECRET_SPEC = {
  method: 'GET',
  pathAndQuery: '/v1/webhooks:getSharedSecret',
  description: 'shared secret of webhooks',
} as const

const ROTATE_SECRET_SPEC = {
  method: 'POST',
  pathAndQuery: '/v1/webhooks:generateOrRotateSharedSecret',
  description: 'changing the shared secret of webhooks',
  nonIdempotent: true,
} as const

function readSecret(body: Buffer): string {
  const { secret } = readObject<{ secret?: unknown }>(body)
  if (typeof secret !== 'string' || secret === '') throw malformedResponse('has no secret', body)
  return secret
}
