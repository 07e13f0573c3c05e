import { ExportError, type FailureCode } from '../../../core/model/errors.ts'

/** A refusal in an answer with status 200, recognized by its text. README.md has the sources of the texts. */
type Refusal = {
  text: RegExp
  code: FailureCode
  /** The HTTP status that means the same. */
  status?: number
  fix?: string
}

const TOO_LARGE = 413
const TIMEOUT = 504

/** The first match counts. */
const REFUSALS: readonly Refusal[] = [
  {
    text: /deprecated v1|switch to (etherscan )?api v2/i,
    code: 'REQUEST_REFUSED',
    fix: 'Version 1 of the API of Etherscan and its sister sites was switched off: set service.baseUrl (WALLETLAKE_BASE_URL or --base-url) to https://api.etherscan.io/v2/api, with a key of etherscan.io, which is valid for all chains.',
  },
  {
    text: /max daily rate limit/i,
    code: 'RATE_LIMITED',
    fix: 'The daily quota of this key is used up. Run the same command again tomorrow (UTC): it resumes. Or raise the quota with the provider.',
  },
  {
    text: /result window is too large/i,
    code: 'REQUEST_REFUSED',
    status: TOO_LARGE,
  },
  {
    text: /query timeout|smaller result/i,
    code: 'SERVICE_UNAVAILABLE',
    status: TIMEOUT,
  },
  {
    text: /not supported for this chain|upgrade (your|to)|api pro\b/i,
    code: 'REQUEST_REFUSED',
    fix: 'The plan of this API key does not include the request. Choose another plan, or another explorer of the chain: service.baseUrl and service.api name it.',
  },
  {
    text: /\bchain ?id\b|chain (is )?not supported|unsupported chain/i,
    code: 'REQUEST_REFUSED',
    fix: "Check the chain of the job against the explorer's list of chains.",
  },
  { text: /invalid api ?key|(missing|\bno\b).*api ?key/i, code: 'KEY_REFUSED' },
  {
    // `NOTOK` without a reason, such as with an empty list, states nothing about the request.
    text: /server too busy|timeout occurred|something went wrong|temporarily unavailable|^notok$/i,
    code: 'SERVICE_UNAVAILABLE',
  },
  { text: /invalid address/i, code: 'REQUEST_REFUSED', status: 400 },
]

/** Refusals that concern the rate of requests, and no other limit. */
const THROTTLED = /rate limit|calls per sec|too many requests|free api access is temporarily unavailable/i
const NOT_THROTTLED = /max daily rate limit|rate limit of .* applied/i

/** Whether the text of a refusal asks for fewer requests. */
export function isThrottleText(text: string): boolean {
  return THROTTLED.test(text) && !NOT_THROTTLED.test(text)
}

/** Creates the error for a refusal. */
export function refusalError(text: string): ExportError {
  const { code, status, fix } = REFUSALS.find((refusal) => refusal.text.test(text)) ?? UNKNOWN_REFUSAL
  const shown = text
    .replace(/[^\x20-\x7e…]+/g, ' ')
    .replace(/\?\S+/g, '?…')
    // The last word may be cut, and a part of the key would not be redacted.
    .replace(/^(.{300}).*$/, (_, start: string) => start.replace(/\S*$/, '…'))
  const options = { ...(status === undefined ? {} : { status }), ...(fix === undefined ? {} : { fix }) }
  return new ExportError(code, `the service answered: ${shown}`, options)
}

const UNKNOWN_REFUSAL: Omit<Refusal, 'text'> = { code: 'REQUEST_REFUSED' }
