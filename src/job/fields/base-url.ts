import { readBaseUrl } from '../../core/model/base-url.ts'
import { against } from '../diagnostics.ts'
import { type Given, quoted, showGiven } from '../resolve/raw-value.ts'
import type { Kind } from './field-type.ts'

/** An http(s) URL, without slashes and `/v1` at its end, or `demo`. Credentials and queries are refused and never shown. */
export function baseUrl(): Kind<string> {
  return {
    schema: { type: 'string', pattern: '^(demo|[hH][tT][tT][pP][sS]?://[^\\s?#@\\\\]+)$' },
    parse: (given, complain) => {
      const text = typeof given.value === 'string' ? given.value : ''
      const accepted = text === 'demo' ? text : readBaseUrl(text)
      if (accepted === undefined)
        complain({ ...against(given, EXPECTED, likelyUrl(text)), found: showUrl(given) })
      return accepted
    },
  }
}

const EXPECTED = 'an http or https URL without user, password, query and #, or demo'

/** The URL of a host that stands without `https://`. */
function likelyUrl(text: string): string | undefined {
  if (/^demo$/i.test(text)) return 'demo'
  if (!/^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/[^\s?#@\\]*)?$/i.test(text)) return undefined
  return /^(localhost|127\.)/i.test(text) ? `http://${text}` : `https://${text}`
}

/** The URL without whatever stands before an `@` or after `?` or `#`: a key may be there. */
function showUrl(given: Given): string {
  if (typeof given.value !== 'string') return showGiven(given)
  const [hasUser, hasQuery] = [given.value.includes('@'), /[?#]/.test(given.value)]
  if (hasUser && hasQuery) return 'a URL with credentials (not shown)'
  if (hasUser) return quoted(`…@${given.value.slice(given.value.lastIndexOf('@') + 1)}`)
  return quoted(given.value.replace(/([?#]).*$/s, '$1…'))
}
