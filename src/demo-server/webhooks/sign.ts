import { createHmac } from 'node:crypto'
import type { JsonObject } from '../json.ts'
import { canonicalJson } from './canonical-json.ts'

/**
 * How deliveries are signed, an HMAC-SHA256 in base64 either way: `canonical` over the body's canonical JSON, with
 * the secret's hex digits decoded; `raw` over the body as it is sent, with the secret as text.
 */
export type SignatureScheme = 'canonical' | 'raw'

export type SignedBody = { readonly secret: string; readonly body: JsonObject; readonly text: string }

/** Signs a delivery; `text` is the body as it is sent. */
export function sign({ secret, body, text }: SignedBody, scheme: SignatureScheme): string {
  return scheme === 'canonical'
    ? createHmac('sha256', Buffer.from(secret, 'hex')).update(canonicalJson(body)).digest('base64')
    : createHmac('sha256', secret).update(text).digest('base64')
}
