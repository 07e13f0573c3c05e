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
  const words = FAULTS.find(({ of }) => codes.some((each) => of.test(each)))
  if (words !== undefined) return words.say(url, code)
  const fix = url.startsWith('http:') ? { fix: MAYBE_HTTPS } : {}
  return { what: `the connection to ${new URL(url).host} failed (${code || 'unknown fault'})`, ...fix }
}

const MAYBE_HTTPS = `If the service speaks https, write https:// in ${BASE_URL}; else run the same command again: it resumes.`

/** Said where a proxy is set that is not used. */
function ofProxy(): string {
  const name = PROXIES.find((each) => process.env[each])
  return name === undefined ? '' : ` walletlake asks directly: it does not use ${name}.`
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

type Fault = { readonly of: RegExp; readonly say: (url: string, code: string) => FaultWords }

/** Faults by their codes, before those of the connection as such. */
const FAULTS: readonly Fault[] = [
  {
    of: /^ENOTFOUND$/,
    say: (url, code) => ({
      what: `no host of this name is known: ${url} (${code})`,
      fix: `Correct the host in ${BASE_URL}, or look to this machine's network.${ofProxy()}`,
      isPermanent: true,
    }),
  },
  {
    of: /^EAI_/,
    say: (url, code) => ({
      what: `the host's name cannot be looked up now: ${url} (${code})`,
      fix: `Look to this machine's network, then run the same command again.${ofProxy()}`,
    }),
  },
  {
    of: /^ECONNREFUSED$/,
    say: (url, code) => ({
      what: `nothing listens at ${url} (${code})`,
      fix: `Start the service, or correct host and port in ${BASE_URL}, then run the same command again.${ofProxy()}`,
    }),
  },
  {
    of: /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    say: (url, code) => ({
      what: `no connection to ${url} can be made (${code})`,
      fix: `Look to network, firewall and ${BASE_URL}, then run the same command again.${ofProxy()}`,
    }),
  },
  {
    of: /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    say: (url, code) => ({
      what: `what answers at ${url} does not speak https (${code})`,
      fix: `Write http:// in ${BASE_URL}, or the port that speaks https.`,
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
