import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import { checkJsonSize } from '../../../core/platform/check-json-size.ts'
import { parseJson } from '../../../core/platform/json-text.ts'
import type { Paged } from '../resources/pages.ts'

type JsonObject = Record<string, unknown>

/** Reads a JSON object. Throws PAGE_MALFORMED, which never repeats the body: it may hold a secret. */
export function readObject<Resource extends object>(body: Buffer): Resource {
  const answer = parse(body)
  if (!isObject(answer)) throw malformed('is not a JSON object', body)
  return answer as Resource
}

/** Reads a JSON object where the interface shows no body: anything else, nothing at all too, gives undefined. */
export function readAnyObject<Resource extends object>(body: Buffer): Resource | undefined {
  const answer = parse(body)
  return isObject(answer) ? (answer as Resource) : undefined
}

/** Makes a reader of pages whose items stand in the list `of`. It throws PAGE_MALFORMED where list or token is none. */
export function pageReader<Page extends Paged<object>>(of: string & keyof Page): (body: Buffer) => Page {
  return (body) => {
    const page: JsonObject = readObject(body)
    const listed = page[of]
    if (!Array.isArray(listed)) throw malformed(`has no list of ${of}`, body)
    if (listed.length > MAX_PAGE_ITEMS)
      throw malformed(`lists ${listed.length} ${of}, more than the limit of ${MAX_PAGE_ITEMS}`, body)
    const token = page.nextPageToken ?? ''
    if (typeof token !== 'string') throw malformed('has a nextPageToken that is not text', body)
    return page as Page
  }
}

export function malformed(what: string, body: Buffer): ExportError {
  return new ExportError('PAGE_MALFORMED', `the answer ${what} (${body.length} bytes)`)
}

/** What a JSON body holds; undefined where it is none. Throws PAGE_MALFORMED where it exceeds a limit. */
export function parse(body: Buffer): unknown {
  checkJsonSize(body)
  return isUtf8(body) ? parseJson(body.toString('utf8')) : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
