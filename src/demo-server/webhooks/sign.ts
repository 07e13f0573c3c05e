import { createHmac } from 'node:crypto'
import type { JsonObject } from '../json.ts'

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

/** Serializes a value as canonical JSON (RFC 8785): no whitespace, object keys sorted by UTF-16 code units. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
