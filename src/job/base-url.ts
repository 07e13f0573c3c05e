import { against } from './complaints.ts'
import { type Given, quoted, showGiven } from './given.ts'
import type { Kind } from './kinds.ts'

/** An http(s) URL, its trailing slashes removed, or `demo`. Credentials and queries are refused and never shown. */
export function baseUrl(): Kind<string> {
  return {
    schema: { type: 'string', pattern: '^(demo|[hH][tT][tT][pP][sS]?://[^\\s?#@\\\\]+)$' },
    parse: (given, complain) => {
      const accepted = typeof given.value === 'string' ? acceptUrl(given.value) : undefined
      if (accepted === undefined) complain({ ...against(given, EXPECTED), found: showUrl(given) })
      return accepted
    },
  }
}

const EXPECTED = 'an http or https URL without user, password, query and #, or demo'

function acceptUrl(text: string): string | undefined {
  if (text === 'demo') return text
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).href.replace(/\/+$/, '')
}

/** The URL without whatever stands before an `@` or after `?` or `#`: a key may be there. */
function showUrl(given: Given): string {
  if (typeof given.value !== 'string') return showGiven(given)
  const [hasUser, hasQuery] = [given.value.includes('@'), /[?#]/.test(given.value)]
  if (hasUser && hasQuery) return 'a URL with credentials (not shown)'
  if (hasUser) return quoted(`…@${given.value.slice(given.value.lastIndexOf('@') + 1)}`)
  return quoted(given.value.replace(/([?#]).*$/s, '$1…'))
}
