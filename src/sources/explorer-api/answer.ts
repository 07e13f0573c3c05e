import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../core/model/errors.ts'
import { parseBytes, toText } from '../../core/platform/byte-text.ts'
import { parseLimited } from '../../core/platform/check-json-size.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import type { ApiResponse } from '../../http/http-client.ts'
import { type Fields, isObject } from '../fields.ts'
import { isThrottleText, refusalError } from './requests/refusals.ts'

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
