import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/**
 * How services sign events, an HMAC-SHA256 in base64 either way: `canonical` over the body's canonical JSON with the
 * secret's hex digits decoded, `raw` over the body as it was sent with the secret as text.
 */
export type SecretScheme = 'canonical' | 'raw'

/** Whether a secret can be used with a scheme: what is not hex would leave an empty key, which anybody has. */
export function isUsableWithScheme(secret: string, scheme: SecretScheme): boolean {
  return scheme === 'raw' ? secret !== '' : /^([0-9a-f]{2})+$/i.test(secret)
}

export type SignedEvent = {
  /** As the header has it. */
  signature: string | undefined
  secret: string
  /** Any of these will do. */
  schemes: readonly SecretScheme[]
  /** The body as it was sent, and what it holds. */
  body: Buffer
  event: object
}

/** Whether a body was signed with the secret; a secret that does not fit a scheme signs nothing. */
export function verifySignature({ signature = '', secret, schemes, body, event }: SignedEvent): boolean {
  const actual = Buffer.from(signature, 'base64')
  return schemes
    .filter((scheme) => isUsableWithScheme(secret, scheme))
    .map((scheme) =>
      scheme === 'raw' ? hmac(secret, body) : hmac(Buffer.from(secret, 'hex'), canonicalJson(event)),
    )
    .some((expected) => expected.length === actual.length && timingSafeEqual(expected, actual))
}

function hmac(key: string | Buffer, content: string | Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest()
}
