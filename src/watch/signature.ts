import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/**
 * How events are signed. Both schemes use HMAC-SHA256 in base64: `canonical` signs the body's canonical JSON with the
 * hex-decoded secret as key, `raw` signs the body as sent with the secret's text as key.
 */
export type SecretScheme = 'canonical' | 'raw'

/**
 * Whether a secret is valid for a scheme. Decoding a secret that is not hex could give an empty key, which anyone can
 * use.
 */
export function isUsableWithScheme(secret: string, scheme: SecretScheme): boolean {
  return scheme === 'raw' ? secret !== '' : /^([0-9a-f]{2})+$/i.test(secret)
}

export type SignedEvent = {
  /** Value of the X-Signature header. */
  signature: string | undefined
  secret: string
  /** Accepted schemes. */
  schemes: readonly SecretScheme[]
  /** The body as received; `event` is the parsed body. */
  body: Buffer
  event: object
}

/**
 * Whether the body was signed with the secret in one of the schemes. Schemes that the secret is invalid for are
 * skipped.
 */
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
