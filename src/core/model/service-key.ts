import { proxyFor } from '../platform/proxy.ts'
import { ExportError } from './errors.ts'
import { knownServiceOf } from './known-services.ts'

/** The header that carries the key for services that are not known. */
const DEFAULT_HEADER = 'x-service-api-key'

/** The default header that carries the key of a service. */
export function keyHeaderOf(baseUrl: string | undefined): string {
  return knownServiceOf(baseUrl)?.keyHeader ?? DEFAULT_HEADER
}

/** Whether a base URL is that of a known service: https, its host, which was not switched off, and no other port. */
export function isKnownService(baseUrl: string): boolean {
  const service = knownServiceOf(baseUrl)
  if (service === undefined || service.replacement !== undefined) return false
  const { protocol, port } = new URL(baseUrl)
  return protocol === 'https:' && port === ''
}

export type KeyTransport = {
  baseUrl: string | undefined
  apiKey: string | undefined
  /** Send the key unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
}

/**
 * Throws USAGE if the key would be sent unencrypted to another machine, either to the service or to an http
 * proxy.
 */
export function requireEncryptedKey({ baseUrl, apiKey, allowPlainHttp = false }: KeyTransport): void {
  if (apiKey === undefined || allowPlainHttp || baseUrl === undefined || !URL.canParse(baseUrl)) return
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:') return
  const proxy = proxyFor(url)
  if (isLoopback(url) && (proxy === undefined || isLoopback(new URL(proxy.url)))) return
  throw new ExportError(
    'USAGE',
    `the key would be sent unencrypted to ${url.host} because the base URL is http`,
    {
      fix: 'Write https:// in the base URL. If the network in between is trusted, add --allow-plain-http or set WALLETLAKE_ALLOW_PLAIN_HTTP=true.',
    },
  )
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/.test(
    hostname,
  )
}
