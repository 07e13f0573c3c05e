import { isUtf8 } from 'node:buffer'
import { ExportError, type FailureCode } from '../../core/model/errors.ts'
import { parseBytes, toText } from '../../core/platform/byte-text.ts'
import { parseLimited } from '../../core/platform/check-json-size.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import type { ApiResponse } from '../../http/http-client.ts'
import { type Fields, isObject } from '../fields.ts'

/** An answer: status, message and result. Its strings are byte strings. */
type Answer = { status: unknown; message: unknown; result: unknown }

/**
 * Reads the records of a listing. An answer without any is a refusal in form, but an empty list.
 *
 * @throws PAGE_MALFORMED if the body is not an answer; the error of a refusal; SERVICE_UNAVAILABLE if the list is
 *   incomplete, because the explorer has not processed all blocks yet
 */
export function readRecords(body: Buffer): readonly Fields[] {
  const answer = readAnswer(body)
  const { status, message, result } = answer
  if (status === '2') throw unprocessedError(textOf(message))
  if (result === null && NOTHING_FOUND.test(textOf(message))) return []
  if (!Array.isArray(result) && status !== '0') throw malformed('has neither records nor a refusal', body)
  if (!Array.isArray(result)) throw refusalError(refusalText(answer))
  if (status !== '1' && (result.length > 0 || !NOTHING_FOUND.test(textOf(message))))
    throw refusalError(refusalText({ ...answer, result: '' }))
  if (!result.every(isObject)) throw malformed('lists records that are not objects', body)
  return result
}

function unprocessedError(message: string): ExportError {
  return new ExportError('SERVICE_UNAVAILABLE', `the service answered: ${message}`, {
    cause: new UnprocessedBlocksError(),
  })
}

/** The explorer has not processed all blocks of the requested range. */
export class UnprocessedBlocksError extends Error {}

/** Whether the explorer answered that it has not processed all blocks of the requested range. */
export const isUnprocessed = (error: unknown): error is ExportError =>
  error instanceof ExportError && error.cause instanceof UnprocessedBlocksError

/** The messages of an empty list. Other texts of this form, such as `No API key found`, are refusals. */
const NOTHING_FOUND = /^no (transactions|internal transactions|token transfers|records) found\.?$/i

/** Reads a result that is a number: decimal digits, or hexadecimal ones with `0x`. Throws like `readRecords`. */
export function readQuantity(body: Buffer): bigint {
  return quantityIn(readAnswer(body), body)
}

/** Reads the number of a block, which Blockscout puts into an object. Throws like `readRecords`. */
export function readBlockNumber(body: Buffer): number {
  const { result, ...answer } = readAnswer(body)
  return Number(quantityIn({ ...answer, result: isObject(result) ? result.blockNumber : result }, body))
}

function quantityIn(answer: Answer, body: Buffer): bigint {
  const { status = '1', result } = answer
  if (status === '0') throw refusalError(refusalText(answer))
  if (status !== '1' || typeof result !== 'string' || !QUANTITY.test(result))
    throw malformed('has no number as its result', body)
  return BigInt(result)
}

const QUANTITY = /^(\d{1,78}|0x[\da-f]{1,64})$/i

/** Whether a successful response only says that there were too many requests. */
export function isThrottled({ status, body }: ApiResponse): boolean {
  if (status !== 200 || body.length > MAX_REFUSAL_BYTES) return false
  const parsed = parseOrUndefined(body)
  if (!isObject(parsed) || parsed.status !== '0') return false
  return isThrottleText(refusalText({ status: '0', message: parsed.message, result: parsed.result }))
}

const MAX_REFUSAL_BYTES = 2_000

function readAnswer(body: Buffer): Answer {
  if (!isUtf8(body)) throw malformed('is not UTF-8', body)
  const parsed = parseLimited(body, parseOrUndefined)
  if (!isObject(parsed)) throw malformed('is not a JSON object', body)
  const { status, message, result } = parsed
  // Some copies of the API state it as a number.
  return { status: typeof status === 'number' ? String(status) : status, message, result }
}

function parseOrUndefined(body: Buffer): unknown {
  try {
    return parseBytes(body)
  } catch {
    return undefined
  }
}

/** The text of a refusal: the result where it has one, otherwise the message. */
function refusalText({ message, result }: Answer): string {
  return typeof result === 'string' && result !== '' ? textOf(result) : textOf(message)
}

const textOf = (value: unknown): string => toText(typeof value === 'string' ? value : jsonText(value ?? null))

function malformed(problem: string, body: Buffer): ExportError {
  return new ExportError('PAGE_MALFORMED', `the response ${problem} (${body.length} bytes)`)
}

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
function isThrottleText(text: string): boolean {
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
