import { ExportError } from '../model/errors.ts'
import { registerSecret } from './secrets.ts'

/** The proxy that requests to a URL go through. */
export type ProxyServer = {
  /** The environment variable that names it. */
  readonly variable: string
  /** With user and password: never to be shown. */
  readonly url: string
  /** Host and port, for messages. */
  readonly host: string
}

type Env = Readonly<Record<string, string | undefined>>

/** What undici's `EnvHttpProxyAgent` is given, from the same environment. */
export type ProxySettings = { httpProxy: string; httpsProxy: string; noProxy: string; proxyTunnel: false }

/**
 * The proxy settings of the environment, as curl and undici read them: `http_proxy`, `https_proxy` and `no_proxy`, else the
 * same names in capitals; https falls back to the proxy for http. A plain http request is forwarded rather than tunnelled,
 * since many proxies refuse CONNECT to other ports than 443. Throws USAGE where a value is no proxy.
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

/** The proxy for a URL; undefined where it is requested directly. Throws as `proxySettings` does. */
export function proxyFor(url: URL, env: Env = process.env): ProxyServer | undefined {
  if (directOrigins.has(url.origin) || isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  return readProxy(url.protocol, env)
}

const directOrigins = new Set<string>()

/** Has a server of this process itself always be requested directly. */
export function bypassProxy(url: string): void {
  directOrigins.add(new URL(url).origin)
}

function readProxy(protocol: string, env: Env): ProxyServer | undefined {
  const names = [...(protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : [])]
  // A variable in small letters that is set hides the one in capitals, also where it is empty.
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

/** Whether NO_PROXY lists a host: itself or a domain above it, with or without a port, or `*`. As undici reads it. */
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
