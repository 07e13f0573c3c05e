import { against } from '../diagnostics.ts'
import { type Given, showGiven } from '../resolve/raw-value.ts'
import type { Kind } from './field-type.ts'

/** A name for the header that carries the key. What is no name is not shown: it may be the key itself. */
export function headerName(): Kind<string> {
  return {
    schema: { type: 'string', pattern: NAME.source },
    parse: (given, complain) => {
      const text = typeof given.value === 'string' ? given.value : ''
      const refused = NAME.test(text) ? reserved(given, text) : notAName(given)
      if (refused !== undefined) complain(refused)
      return refused === undefined ? text : undefined
    },
  }
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

function notAName(given: Given) {
  const found =
    typeof given.value === 'string'
      ? `text of ${given.value.length} characters (not shown)`
      : showGiven(given)
  return { ...against(given, 'the name of an HTTP header, like x-service-api-key'), found }
}

function reserved(given: Given, name: string) {
  if (!RESERVED.has(name.toLowerCase())) return undefined
  return against(given, 'a header that HTTP itself does not use, like x-service-api-key')
}

/** Headers that HTTP or our requests need for themselves. */
const RESERVED = new Set([
  ...[
    'host',
    'connection',
    'keep-alive',
    'upgrade',
    'te',
    'trailer',
    'transfer-encoding',
    'proxy-connection',
  ],
  ...[
    'content-length',
    'content-type',
    'content-encoding',
    'expect',
    'accept',
    'accept-encoding',
    'user-agent',
  ],
])
