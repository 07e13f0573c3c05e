import { ExportError } from '../model/errors.ts'
import { registerSecret } from './secrets.ts'

/** The proxy for requests to a URL. */
export type ProxyServer = {
  /** The environment variable that configures it. */
  readonly variable: string
  /** Includes user and password: must never be printed. */
  readonly url: string
  /** Host and port, for messages. */
  readonly host: string
}

type Env = Readonly<Record<string, string | undefined>>

/** Options of undici's `EnvHttpProxyAgent`, from the same environment variables. */
export type ProxySettings = { httpProxy: string; httpsProxy: string; noProxy: string; proxyTunnel: false }

/**
 * Reads the proxy settings from the environment like curl and undici: `http_proxy`, `https_proxy` and
 * `no_proxy`, otherwise the same names in upper case; https falls back to the http proxy. Plain http requests
 * are forwarded instead of tunnelled, because many proxies refuse CONNECT to other ports than 443. Throws
 * USAGE for an invalid value.
 */
export function proxySettings(env: Env = process.env): ProxySettings {
  const [http, https] = [readProxy('http:', env), readProxy('https:', env)]
  return {
    httpProxy: http?.url ?? '',
    httpsProxy: https?.url ?? '',
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    proxyTunnel: false,
  }
}

/** The proxy for a URL; undefined if the URL is requested directly. Throws USAGE like `proxySettings`. */
export function proxyFor(url: URL, env: Env = process.env): ProxyServer | undefined {
  if (directOrigins.has(url.origin) || isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  return readProxy(url.protocol, env)
}

const directOrigins = new Set<string>()

/** Excludes a server of this process from proxying. */
export function bypassProxy(url: string): void {
  directOrigins.add(new URL(url).origin)
}

function readProxy(protocol: string, env: Env): ProxyServer | undefined {
  const names = [...(protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : [])]
  // A lower-case variable that is set hides the upper-case one, even if it is empty.
  const own = names.find((name) => env[name] !== undefined)
  const common = ['http_proxy', 'HTTP_PROXY'].find((name) => env[name] !== undefined)
  const variable = [own, common].find((name) => name !== undefined && env[name] !== '')
  return variable === undefined ? undefined : parseProxy(variable, env[variable] ?? '')
}

function parseProxy(variable: string, value: string): ProxyServer {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
  try {
    const { href, host, protocol, password } = new URL(text)
    if (!/^(https?|socks5?):$/.test(protocol) || host === '') throw new Error('no proxy')
    registerSecret(decodeURIComponent(password))
    return { variable, url: href, host }
  } catch {
    throw new ExportError('USAGE', `${variable} is not the address of a proxy`, {
      fix: `Set ${variable} to http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters %-encoded.`,
    })
  }
}

/**
 * Whether NO_PROXY exempts a host: by its name or a parent domain, with or without a port, or by `*`. Same
 * rules as undici.
 */
function isExempt({ protocol, hostname, port }: URL, noProxy: string): boolean {
  if (noProxy.trim() === '*') return true
  const portOf = port || (protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, only = portOf] = /^(.+):(\d+)$/.exec(entry) ?? []
      const domain = name.replace(/^\*?\./, '').toLowerCase()
      return only === portOf && (hostname === domain || hostname.endsWith(`.${domain}`))
    })
}
