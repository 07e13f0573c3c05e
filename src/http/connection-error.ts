import { type ProxyServer, proxyFor } from '../core/platform/proxy.ts'

/** Why no answer came, for people: what happened, and what may be done about it. */
export type FaultWords = {
  readonly what: string
  readonly fix?: string
  /** No try can succeed until something is changed. */
  readonly isPermanent?: true
}

/** What a user sets to say where the service is. */
export const BASE_URL = 'the base URL (service.baseUrl, WALLETLAKE_BASE_URL or --base-url)'

/** The words for a connection that failed, by the codes of its fault; `url` is the base address, which holds no secret. */
export function faultWords(codes: readonly string[], url: string): FaultWords {
  const code = codes.join(', ')
  const proxy = proxyFor(new URL(url))
  const ofProxy = proxy && proxyWords(codes, { url, proxy })
  if (ofProxy !== undefined) return ofProxy
  const words = FAULTS.find(({ of }) => codes.some((each) => of.test(each)))
  if (words !== undefined) return words.say(url, code)
  const fix = url.startsWith('http:') ? { fix: MAYBE_HTTPS } : {}
  return { what: `the connection to ${new URL(url).host} failed (${code || 'unknown fault'})`, ...fix }
}

const MAYBE_HTTPS = `If the service speaks https, write https:// in ${BASE_URL}; else run the same command again: it resumes.`

/** Faults that happen before a connection through a proxy leads anywhere: they are the proxy's. */
const PROXY_FAULT =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/
/** A proxy's answer to CONNECT; `codesOf` in client.ts makes the code from undici's message. */
const PROXY_STATUS = /^PROXY_STATUS_(\d+)$/

function proxyWords(
  codes: readonly string[],
  { url, proxy }: { url: string; proxy: ProxyServer },
): FaultWords | undefined {
  const named = `the proxy ${proxy.host} of ${proxy.variable}`
  const fault = codes.find((code) => PROXY_FAULT.test(code))
  if (fault !== undefined)
    return {
      what: `${named} cannot be reached (${fault})`,
      fix: `Correct ${proxy.variable}, or list ${new URL(url).hostname} in NO_PROXY if it can be reached directly.`,
    }
  const status = codes.map((code) => PROXY_STATUS.exec(code)?.[1]).find((one) => one !== undefined)
  if (status === undefined) return undefined
  return {
    what: `${named} answered ${status} instead of connecting to ${new URL(url).host}`,
    ...proxyFix(proxy, status),
  }
}

/** What to do about a proxy's refusal. */
function proxyFix({ variable }: ProxyServer, status: string): { fix: string; isPermanent?: true } {
  if (status === '407') return { fix: proxyPasswordFix(variable), isPermanent: true }
  if (status === '403' || status === '405')
    return {
      fix: `Have the proxy allow this host, correct ${variable}, or list the host in NO_PROXY.`,
      isPermanent: true,
    }
  return { fix: `Check the proxy and ${variable}, then run the same command again.` }
}

/** What to do about a proxy that asks for a password. */
export const proxyPasswordFix = (variable: string) =>
  `Put user and password into ${variable}: http://USER:PASSWORD@HOST:PORT, special characters %-encoded.`

/** How a request travels, for the advice about one that does not arrive. */
export function routeWords(url: string): string {
  const proxy = proxyFor(new URL(url))
  if (proxy !== undefined) return ` Requests go through the proxy ${proxy.host} of ${proxy.variable}.`
  const isSet = PROXIES.some((name) => process.env[name])
  if (isSet) return ' Requests go there directly: NO_PROXY lists this host.'
  const all = ALL_PROXIES.find((name) => process.env[name])
  if (all !== undefined)
    return ` Requests go there directly: ${all} is not used; set HTTPS_PROXY or HTTP_PROXY if a proxy is needed.`
  return ' If this network needs a proxy, set HTTPS_PROXY or HTTP_PROXY.'
}

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']
const ALL_PROXIES = ['all_proxy', 'ALL_PROXY']

type Fault = { readonly of: RegExp; readonly say: (url: string, code: string) => FaultWords }

/** Faults by their codes, before those of the connection as such. */
const FAULTS: readonly Fault[] = [
  {
    of: /^ENOTFOUND$/,
    say: (url, code) => ({
      what: `no host of this name is known: ${url} (${code})`,
      fix: `Correct the host in ${BASE_URL}, or look to this machine's network.${routeWords(url)}`,
      isPermanent: true,
    }),
  },
  {
    of: /^EAI_/,
    say: (url, code) => ({
      what: `the host's name cannot be looked up now: ${url} (${code})`,
      fix: `Look to this machine's network, then run the same command again.${routeWords(url)}`,
    }),
  },
  {
    of: /^ECONNREFUSED$/,
    say: (url, code) => ({
      what: `nothing listens at ${url} (${code})`,
      fix: `Start the service, or correct host and port in ${BASE_URL}, then run the same command again.${routeWords(url)}`,
    }),
  },
  {
    of: /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    say: (url, code) => ({
      what: `no connection to ${url} can be made (${code})`,
      fix: `Look to network, firewall and ${BASE_URL}, then run the same command again.${routeWords(url)}`,
    }),
  },
  {
    of: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    say: (url, code) => ({
      what: `what answers at ${url} does not speak https (${code})`,
      fix: `Correct host and port in ${BASE_URL}: the service has to speak https there.`,
      isPermanent: true,
    }),
  },
  {
    of: /^(HPE_\w+|HTTPParserError)$/,
    say: (url, code) => ({
      what: `what answers at ${url} does not speak http (${code})`,
      fix: `Correct scheme, host and port in ${BASE_URL}: https://, perhaps.`,
      isPermanent: true,
    }),
  },
  {
    of: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    say: (url, code) => ({
      what: `the certificate at ${url} is for another host (${code})`,
      fix: `Correct the host in ${BASE_URL}: the certificate says whose it is.`,
      isPermanent: true,
    }),
  },
  {
    of: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    say: (url, code) => ({
      what: `the certificate at ${url} is not valid now (${code})`,
      fix: "Check this machine's clock; if it is right, the service has to renew its certificate.",
      isPermanent: true,
    }),
  },
  {
    of: /^(CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+$/,
    say: (url, code) => ({
      what: `the certificate at ${url} is not trusted (${code})`,
      fix: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority that signed it.',
      isPermanent: true,
    }),
  },
]
