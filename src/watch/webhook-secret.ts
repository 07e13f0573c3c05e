import { ExportError } from '../core/model/errors.ts'
import { isUnsupported } from './find-webhooks.ts'
import { isUsableWithScheme, type SecretScheme, verifySignature } from './signature.ts'

export type { SecretScheme } from './signature.ts'

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
  return service.getSharedSecret({ signal }).catch((thrown: unknown) => {
    if (isUnsupported(thrown)) return undefined
    throw thrown
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
