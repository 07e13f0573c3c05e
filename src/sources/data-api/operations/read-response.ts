import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import { parseLimited } from '../../../core/platform/check-json-size.ts'
import { parseJson } from '../../../core/platform/json-text.ts'
import type { Paged } from '../resources/pages.ts'

type JsonObject = Record<string, unknown>

/**
 * Parses a JSON object. Throws PAGE_MALFORMED, whose message never contains the body, since that may hold a
 * secret.
 */
export function readObject<Resource extends object>(body: Buffer): Resource {
  const parsed = parseBody(body)
  if (!isObject(parsed)) throw malformedResponse('is not a JSON object', body)
  return parsed as Resource
}

/**
 * Parses a JSON object if the interface defines no body; returns undefined for any other body, including an
 * empty one.
 */
export function readAnyObject<Resource extends object>(body: Buffer): Resource | undefined {
  const parsed = parseBody(body)
  return isObject(parsed) ? (parsed as Resource) : undefined
}

/**
 * Creates a parser for pages whose items are in the list `listKey`. It throws PAGE_MALFORMED if the list or
 * the token is invalid.
 */
export function pageReader<Page extends Paged<object>>(listKey: string & keyof Page): (body: Buffer) => Page {
  return (body) => {
    const page: JsonObject = readObject(body)
    const entries = page[listKey]
    if (!Array.isArray(entries)) throw malformedResponse(`has no list of ${listKey}`, body)
    if (entries.length > MAX_PAGE_ITEMS)
      throw malformedResponse(
        `lists ${entries.length} ${listKey}, more than the limit of ${MAX_PAGE_ITEMS}`,
        body,
      )
    const token = page.nextPageToken ?? ''
    if (typeof token !== 'string') throw malformedResponse('has a nextPageToken that is not text', body)
    return page as Page
  }
}

export function malformedResponse(problem: string, body: Buffer): ExportError {
  return new ExportError('PAGE_MALFORMED', `the response ${problem} (${body.length} bytes)`)
}

/** Parses a JSON body; undefined if it is not JSON. Throws PAGE_MALFORMED if it exceeds a limit. */
export function parseBody(body: Buffer): unknown {
  return parseLimited(body, () => (isUtf8(body) ? parseJson(body.toString('utf8')) : undefined))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
