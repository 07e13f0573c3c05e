import * as v from 'valibot'
import { parseBaseUrl } from '../../core/model/base-url.ts'
import { replacementOf } from '../../core/model/known-services.ts'
import { type Diagnostic, invalidValue } from '../diagnostics.ts'
import { formatRawValue, quoted, type RawValue } from '../resolve/raw-value.ts'
import type { FieldType } from './field-type.ts'

/**
 * An http(s) URL or `demo`. Trailing slashes and `/v1` are removed. URLs with credentials or a query are rejected, and
 * these parts are never shown. Hosts that are known to have no API are rejected too.
 */
export function baseUrl(): FieldType<string> {
  return {
    schema: { type: 'string', pattern: '^(demo|[hH][tT][tT][pP][sS]?://[^\\s?#@\\\\]+)$' },
    parsed: v.string(),
    parse: (raw, report) => {
      const text = typeof raw.value === 'string' ? raw.value : ''
      const accepted = text === 'demo' ? text : parseBaseUrl(text)
      const mistake = accepted === undefined ? malformedUrl(raw, text) : replacedUrl(raw, accepted)
      if (mistake === undefined) return accepted
      report(mistake)
      return undefined
    },
  }
}

function malformedUrl(raw: RawValue, text: string): Diagnostic {
  return { ...invalidValue(raw, BASE_URL_EXPECTED, suggestUrl(text)), found: redactUrl(raw) }
}

/** The diagnostic for a host that was switched off and for the web site of an explorer. */
function replacedUrl(raw: RawValue, url: string): Diagnostic | undefined {
  const replacement = replacementOf(url)
  if (replacement === undefined) return undefined
  const { reason, keys, baseUrl } = replacement
  return invalidValue(raw, `another URL: ${[reason, keys].filter(Boolean).join('; ')}`, baseUrl)
}

const BASE_URL_EXPECTED = 'an http or https URL without user, password, query and #, or demo'

/** Suggests the URL for a host without `https://`, or that of its replacement. */
function suggestUrl(text: string): string | undefined {
  if (/^demo$/i.test(text)) return 'demo'
  if (!/^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/[^\s?#@\\]*)?$/i.test(text)) return undefined
  const url = /^(localhost|127\.)/i.test(text) ? `http://${text}` : `https://${text}`
  return replacementOf(url)?.baseUrl ?? url
}

/** Removes the parts before `@` and after `?` or `#`, which may contain a key. */
function redactUrl(raw: RawValue): string {
  if (typeof raw.value !== 'string') return formatRawValue(raw)
  const [hasUser, hasQuery] = [raw.value.includes('@'), /[?#]/.test(raw.value)]
  if (hasUser && hasQuery) return 'a URL with credentials (not shown)'
  if (hasUser) return quoted(`…@${raw.value.slice(raw.value.lastIndexOf('@') + 1)}`)
  return quoted(raw.value.replace(/([?#]).*$/s, '$1…'))
}
