import { type ProxyServer, proxyFor } from '../core/platform/proxy.ts'

/** Why no answer came, for people: what happened, and what may be done about it. */
export type ConnectionErrorText = {
  readonly message: string
  readonly fix?: string
  /** No try can succeed until something is changed. */
  readonly isPermanent?: true
}

/** What a user sets to say where the service is. */
export const BASE_URL_SETTING = 'the base URL (service.baseUrl, WALLETLAKE_BASE_URL or --base-url)'

/** The words for a connection that failed, by the codes of its fault; `url` is the base address, which holds no secret. */
export function describeConnectionError(codes: readonly string[], url: string): ConnectionErrorText {
  const code = codes.join(', ')
  const proxy = proxyFor(new URL(url))
  const proxyError = proxy && describeProxyError(codes, { url, proxy })
  if (proxyError !== undefined) return proxyError
  const known = KNOWN_ERRORS.find(({ codes: pattern }) => codes.some((each) => pattern.test(each)))
  if (known !== undefined) return known.describe(url, code)
  const fix = url.startsWith('http:') ? { fix: TRY_HTTPS_FIX } : {}
  return { message: `the connection to ${new URL(url).host} failed (${code || 'unknown fault'})`, ...fix }
}

const TRY_HTTPS_FIX = `If the service speaks https, write https:// in ${BASE_URL_SETTING}; else run the same command again: it resumes.`

/** Faults that happen before a connection through a proxy leads anywhere: they are the proxy's. */
const PROXY_ERROR_CODES =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/
/** A proxy's answer to CONNECT; `errorCodesOf` in client.ts makes the code from undici's message. */
const PROXY_STATUS = /^PROXY_STATUS_(\d+)$/

function describeProxyError(
  codes: readonly string[],
  { url, proxy }: { url: string; proxy: ProxyServer },
): ConnectionErrorText | undefined {
  const proxyName = `the proxy ${proxy.host} of ${proxy.variable}`
  const errorCode = codes.find((code) => PROXY_ERROR_CODES.test(code))
  if (errorCode !== undefined)
    return {
      message: `${proxyName} cannot be reached (${errorCode})`,
      fix: `Correct ${proxy.variable}, or list ${new URL(url).hostname} in NO_PROXY if it can be reached directly.`,
    }
  const status = codes.map((code) => PROXY_STATUS.exec(code)?.[1]).find((one) => one !== undefined)
  if (status === undefined) return undefined
  return {
    message: `${proxyName} answered ${status} instead of connecting to ${new URL(url).host}`,
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
export function describeRoute(url: string): string {
  const proxy = proxyFor(new URL(url))
  if (proxy !== undefined) return ` Requests go through the proxy ${proxy.host} of ${proxy.variable}.`
  const isSet = PROXY_VARIABLES.some((name) => process.env[name])
  if (isSet) return ' Requests go there directly: NO_PROXY lists this host.'
  const allProxy = ALL_PROXY_VARIABLES.find((name) => process.env[name])
  if (allProxy !== undefined)
    return ` Requests go there directly: ${allProxy} is not used; set HTTPS_PROXY or HTTP_PROXY if a proxy is needed.`
  return ' If this network needs a proxy, set HTTPS_PROXY or HTTP_PROXY.'
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']
const ALL_PROXY_VARIABLES = ['all_proxy', 'ALL_PROXY']

type KnownError = {
  readonly codes: RegExp
  readonly describe: (url: string, code: string) => ConnectionErrorText
}

/** Faults by their codes, before those of the connection as such. */
const KNOWN_ERRORS: readonly KnownError[] = [
  {
    codes: /^ENOTFOUND$/,
    describe: (url, code) => ({
      message: `no host of this name is known: ${url} (${code})`,
      fix: `Correct the host in ${BASE_URL_SETTING}, or look to this machine's network.${describeRoute(url)}`,
      isPermanent: true,
    }),
  },
  {
    codes: /^EAI_/,
    describe: (url, code) => ({
      message: `the host's name cannot be looked up now: ${url} (${code})`,
      fix: `Look to this machine's network, then run the same command again.${describeRoute(url)}`,
    }),
  },
  {
    codes: /^ECONNREFUSED$/,
    describe: (url, code) => ({
      message: `nothing listens at ${url} (${code})`,
      fix: `Start the service, or correct host and port in ${BASE_URL_SETTING}, then run the same command again.${describeRoute(url)}`,
    }),
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    describe: (url, code) => ({
      message: `no connection to ${url} can be made (${code})`,
      fix: `Look to network, firewall and ${BASE_URL_SETTING}, then run the same command again.${describeRoute(url)}`,
    }),
  },
  {
    codes: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    describe: (url, code) => ({
      message: `what answers at ${url} does not speak https (${code})`,
      fix: `Correct host and port in ${BASE_URL_SETTING}: the service has to speak https there.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^(HPE_\w+|HTTPParserError)$/,
    describe: (url, code) => ({
      message: `what answers at ${url} does not speak http (${code})`,
      fix: `Correct scheme, host and port in ${BASE_URL_SETTING}: https://, perhaps.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    describe: (url, code) => ({
      message: `the certificate at ${url} is for another host (${code})`,
      fix: `Correct the host in ${BASE_URL_SETTING}: the certificate says whose it is.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    describe: (url, code) => ({
      message: `the certificate at ${url} is not valid now (${code})`,
      fix: "Check this machine's clock; if it is right, the service has to renew its certificate.",
      isPermanent: true,
    }),
  },
  {
    codes: /^(CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)_\w+$/,
    describe: (url, code) => ({
      message: `the certificate at ${url} is not trusted (${code})`,
      fix: 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority that signed it.',
      isPermanent: true,
    }),
  },
]
