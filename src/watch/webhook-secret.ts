import { ExportError } from '../core/model/errors.ts'
import { isUnsupported } from './find-webhooks.ts'
import { isUsableWithScheme, type SecretScheme, verifySignature } from './signature.ts'

export type { SecretScheme } from './signature.ts'

export type SecretOptions = {
  /** How events are signed; undefined: in either way; `none`: they are not checked. */
  secretScheme?: SecretScheme | 'none' | undefined
  /** undefined: the service is asked for it. */
  secret?: string | undefined
  signal?: AbortSignal | undefined
  onNotice: (notice: string) => void
}

type SecretService = { getSharedSecret(options?: { signal?: AbortSignal | undefined }): Promise<string> }
export type EventVerifier = {
  isGenuine(received: { body: Buffer; event: object; signature: string | undefined }): boolean
}

/** Wrong signatures make the service be asked for a newer secret no more often than this, in milliseconds. */
const REFRESH_MS = 60_000

/**
 * Opens what tells genuine events from forged ones. A service without a secret signs nothing, and then everything that
 * finds the receiver's path is taken. Throws USAGE for a secret that the scheme cannot use.
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
  if (secret === undefined) onNotice('the service has no shared secret: events are taken without a signature')
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
  throw new ExportError('USAGE', 'the webhook secret is not hex, as the scheme canonical needs it', {
    fix: 'Check WALLETLAKE_WEBHOOK_SECRET, or give --secret-scheme raw.',
  })
}
