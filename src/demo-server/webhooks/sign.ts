import { createHmac } from 'node:crypto'
import type { JsonObject } from '../json.ts'
import { canonicalJson } from './canonical-json.ts'

/**
 * Signature scheme of deliveries, a base64 HMAC-SHA256 in both cases.
 *
 * - `canonical`: over the canonical JSON of the body; the key is the hex-decoded secret.
 * - `raw`: over the body as sent; the key is the secret as text.
 */
export type SignatureScheme = 'canonical' | 'raw'

export type SignedBody = { readonly secret: string; readonly body: JsonObject; readonly text: string }

/** Signs a delivery. `text` is the body as sent. */
export function sign({ secret, body, text }: SignedBody, scheme: SignatureScheme): string {
  return scheme === 'canonical'
    ? createHmac('sha256', Buffer.from(secret, 'hex')).update(canonicalJson(body)).digest('base64')
    : createHmac('sha256', secret).update(text).digest('base64')
}
