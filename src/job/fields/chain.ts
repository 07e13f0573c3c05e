import * as v from 'valibot'
import { chainIdByName, chainOf } from '../../core/model/chains.ts'
import { textOf } from '../resolve/raw-value.ts'
import { type FieldType, fieldType } from './field-type.ts'

/** A chain's id as exact text: an integer of any size, or text that fits into a URL's path as it is. */
export function chainId(): FieldType<string, string | number> {
  return fieldType({
    schema: {
      anyOf: [
        { type: 'string', pattern: CHAIN_ID.source },
        { type: 'integer', minimum: 0 },
      ],
    },
    parsed: v.pipe(v.string(), v.regex(CHAIN_ID)),
    expected: 'a chain id: an integer, or text of letters, digits, "-", "_" and "."',
    accept: (raw) => {
      const pattern = typeof raw.value === 'string' ? CHAIN_ID : DECIMAL
      const text = textOf(raw)
      // A name is text that could be an id, and no service has a chain by it.
      const isName = text !== undefined && chainIdByName(text) !== undefined
      return text !== undefined && pattern.test(text) && !isName ? text : undefined
    },
    suggest: (raw) => chainIdByName(textOf(raw) ?? '') ?? suggestChainId(textOf(raw) ?? ''),
  })
}

/** The id in digits of a hexadecimal one; an id without the blanks or the comma behind it. */
function suggestChainId(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,64}$/i.test(text)) return String(BigInt(text))
  const likely = text.trim().replace(/,$/, '')
  return likely !== text && CHAIN_ID.test(likely) ? likely : undefined
}

/** Symbol of a chain's coin; null where the chain is not known. */
export function nativeSymbolOf(chain: string): string | null {
  return chainOf(chain)?.symbol ?? null
}

const CHAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const DECIMAL = /^(0|[1-9]\d{0,127})$/
