import * as v from 'valibot'
import { invalidValue } from '../diagnostics.ts'
import { formatRawValue, type RawValue } from '../resolve/raw-value.ts'
import type { FieldType } from './field-type.ts'

/** The name of the header that carries the API key. Invalid text is not shown, because it may be the key itself. */
export function headerName(): FieldType<string> {
  return {
    schema: { type: 'string', pattern: HEADER_NAME.source },
    parsed: v.pipe(v.string(), v.regex(HEADER_NAME)),
    parse: (raw, report) => {
      const text = typeof raw.value === 'string' ? raw.value : ''
      const problem = HEADER_NAME.test(text) ? reservedHeader(raw, text) : invalidHeaderName(raw)
      if (problem !== undefined) report(problem)
      return problem === undefined ? text : undefined
    },
  }
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

function invalidHeaderName(raw: RawValue) {
  const found =
    typeof raw.value === 'string' ? `text of ${raw.value.length} characters (not shown)` : formatRawValue(raw)
  return { ...invalidValue(raw, 'the name of an HTTP header, like x-service-api-key'), found }
}

function reservedHeader(raw: RawValue, name: string) {
  if (!RESERVED_HEADERS.has(name.toLowerCase())) return undefined
  return invalidValue(raw, 'a header that HTTP itself does not use, like x-service-api-key')
}

/** Headers that HTTP or the requests of the program use. */
const RESERVED_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'transfer-encoding',
  'proxy-connection',
  'content-length',
  'content-type',
  'content-encoding',
  'expect',
  'accept',
  'accept-encoding',
  'user-agent',
])
