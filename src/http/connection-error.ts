import { type ProxyServer, proxyFor } from '../core/platform/proxy.ts'

/** Why no response arrived, as a message for the user and its fix. */
export type ConnectionErrorText = {
  readonly message: string
  readonly fix?: string
  /** No attempt can succeed until the configuration changes. */
  readonly isPermanent?: true
}

/** The settings that hold the base URL, for messages. */
export const BASE_URL_SETTING = 'the base URL (service.baseUrl, WALLETLAKE_BASE_URL or --base-url)'

/**
 * Describes a failed connection.
 *
 * @param codes error codes of the failure and its causes
 * @param url base URL, which holds no secret
 */
export function describeConnectionError(codes: readonly string[], url: string): ConnectionErrorText {
  const code = codes.join(', ')
  const proxy = proxyFor(new URL(url))
  const proxyError = proxy && describeProxyError(codes, { url, proxy })
  if (proxyError !== undefined) return proxyError
  const known = KNOWN_ERRORS.find(({ codes: pattern }) => codes.some((each) => pattern.test(each)))
  if (known !== undefined) return known.describe(url, code)
  const fix = url.startsWith('http:') ? { fix: TRY_HTTPS_FIX } : {}
  return { message: `the connection to ${new URL(url).host} failed (${code || 'unknown error'})`, ...fix }
}

const TRY_HTTPS_FIX = `If the service speaks HTTPS, use https:// in ${BASE_URL_SETTING}; otherwise run the same command again: it resumes.`

/** Errors that occur while connecting. Through a proxy, they concern the proxy, not the service. */
const PROXY_ERROR_CODES =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/
/** A proxy's response to CONNECT. `errorCodesOf` in http-client.ts derives the code from undici's message. */
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
  const status = codes.map((code) => PROXY_STATUS.exec(code)?.[1]).find((code) => code !== undefined)
  if (status === undefined) return undefined
  return {
    message: `${proxyName} answered ${status} instead of connecting to ${new URL(url).host}`,
    ...proxyFix(proxy, status),
  }
}

/** The fix for a proxy that refuses CONNECT. */
function proxyFix({ variable }: ProxyServer, status: string): { fix: string; isPermanent?: true } {
  if (status === '407') return { fix: proxyPasswordFix(variable), isPermanent: true }
  if (status === '403' || status === '405')
    return {
      fix: `Have the proxy allow this host, correct ${variable}, or list the host in NO_PROXY.`,
      isPermanent: true,
    }
  return { fix: `Check the proxy and ${variable}, then run the same command again.` }
}

/** The fix for a proxy that requires a password. */
export const proxyPasswordFix = (variable: string) =>
  `Put user and password into ${variable}: http://USER:PASSWORD@HOST:PORT, special characters %-encoded.`

/** Describes whether requests go through a proxy, to complete a fix. */
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

/** Known connection errors. The first entry with a matching code applies. */
const KNOWN_ERRORS: readonly KnownError[] = [
  {
    codes: /^ENOTFOUND$/,
    describe: (url, code) => ({
      message: `host not found: ${url} (${code})`,
      fix: `Correct the host in ${BASE_URL_SETTING}, or check this machine's network.${describeRoute(url)}`,
      isPermanent: true,
    }),
  },
  {
    codes: /^EAI_/,
    describe: (url, code) => ({
      message: `the host name cannot be resolved at the moment: ${url} (${code})`,
      fix: `Check this machine's network, then run the same command again.${describeRoute(url)}`,
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
      message: `cannot connect to ${url} (${code})`,
      fix: `Check network, firewall and ${BASE_URL_SETTING}, then run the same command again.${describeRoute(url)}`,
    }),
  },
  {
    codes: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    describe: (url, code) => ({
      message: `the server at ${url} does not speak HTTPS (${code})`,
      fix: `Correct host and port in ${BASE_URL_SETTING}: the service must speak HTTPS there.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^(HPE_\w+|HTTPParserError)$/,
    describe: (url, code) => ({
      message: `the server at ${url} does not speak HTTP (${code})`,
      fix: `Correct scheme, host and port in ${BASE_URL_SETTING}: the scheme may have to be https://.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    describe: (url, code) => ({
      message: `the certificate at ${url} is issued for another host (${code})`,
      fix: `Correct the host in ${BASE_URL_SETTING}: it must be one that the certificate names.`,
      isPermanent: true,
    }),
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    describe: (url, code) => ({
      message: `the certificate at ${url} has expired or is not valid yet (${code})`,
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
