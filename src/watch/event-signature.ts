import { createHmac, timingSafeEqual } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import { writeJson } from '../core/platform/json-text.ts'
import { isUnsupported } from './webhooks.ts'

export type SecretOptions = {
  /** Signature scheme; `none` disables the check. @default any scheme */
  secretScheme?: SecretScheme | 'none' | undefined
  /** The webhook secret. @default fetched from the service */
  secret?: string | undefined
  signal?: AbortSignal | undefined
  onNotice: (notice: string) => void
}

type SecretService = { getSharedSecret(options?: { signal?: AbortSignal | undefined }): Promise<string> }
export type EventVerifier = {
  isGenuine(received: { body: Buffer; event: object; signature: string | undefined }): boolean
}

/** Minimum time between two requests for a new secret after invalid signatures, in milliseconds. */
const REFRESH_MS = 60_000

/**
 * Opens a verifier for event signatures. If the service has no shared secret, every event that has the receiver's secret
 * path is accepted. After an invalid signature, a fetched secret is fetched again, because it may have been rotated.
 *
 * @throws ExportError USAGE if the secret is invalid for the scheme
 */
export async function openEventVerifier(
  service: SecretService,
  options: SecretOptions,
): Promise<EventVerifier> {
  const { secretScheme, onNotice, signal } = options
  if (secretScheme === 'none') return { isGenuine: () => true }
  const schemes = secretScheme === undefined ? (['canonical', 'raw'] as const) : [secretScheme]
  let secret = options.secret ?? (await fetchSecret(service, signal))
  requireUsableSecret(secret, schemes)
  if (secret === undefined)
    onNotice('the service has no shared secret: events are accepted without a signature')
  let requestedMs = Date.now()
  const refresh = async () => {
    if (options.secret !== undefined || Date.now() - requestedMs < REFRESH_MS) return
    requestedMs = Date.now()
    const newer = await fetchSecret(service, signal).catch(() => secret)
    if (newer !== secret) onNotice('the shared secret of the service has changed')
    secret = newer
  }
  return {
    isGenuine: (received) => {
      const isValid = secret === undefined || verifySignature({ ...received, secret, schemes })
      if (!isValid) void refresh()
      return isValid
    },
  }
}

async function fetchSecret(service: SecretService, signal?: AbortSignal): Promise<string | undefined> {
  return service.getSharedSecret({ signal }).catch((error: unknown) => {
    if (isUnsupported(error)) return undefined
    throw error
  })
}

function requireUsableSecret(secret: string | undefined, schemes: readonly SecretScheme[]): void {
  if (secret === undefined || schemes.some((scheme) => isUsableWithScheme(secret, scheme))) return
  throw new ExportError(
    'USAGE',
    'the webhook secret is not hexadecimal, which the scheme canonical requires',
    {
      fix: 'Check WALLETLAKE_WEBHOOK_SECRET, or use --secret-scheme raw.',
    },
  )
}

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

/**
 * Serializes a parsed JSON value as canonical JSON (RFC 8785): no whitespace, object keys sorted by UTF-16 code units,
 * numbers and strings as ECMAScript serializes them.
 */
export function canonicalJson(value: unknown): string {
  return writeJson(value, (fields) => Object.keys(fields).sort())
}
