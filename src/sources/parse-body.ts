import { isUtf8 } from 'node:buffer'
import { ExportError } from '../core/model/errors.ts'
import { parseBytes } from '../core/platform/byte-text.ts'
import { parseLimited } from '../core/platform/check-json-size.ts'

/** Parses a body as JSON of any shape. Throws PAGE_MALFORMED. */
export function parseBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ExportError('PAGE_MALFORMED', `the page is not UTF-8 (${body.length} bytes)`)
  try {
    return parseLimited(body, parseBytes)
  } catch (cause) {
    if (cause instanceof ExportError) throw cause
    throw new ExportError('PAGE_MALFORMED', `the page is not JSON (${body.length} bytes)`, { cause })
  }
}
