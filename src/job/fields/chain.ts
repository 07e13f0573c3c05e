import * as v from 'valibot'
import { chainIdByName, chainOf } from '../../core/model/chains.ts'
import { textOf } from '../resolve/raw-value.ts'
import { type FieldType, fieldType } from './field-type.ts'

/** A chain id as exact text: an integer of any size, or text that needs no escaping in a URL path. */
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
      // Names have the syntax of an id, but services do not accept them.
      const isName = text !== undefined && chainIdByName(text) !== undefined
      return text !== undefined && pattern.test(text) && !isName ? text : undefined
    },
    suggest: (raw) => chainIdByName(textOf(raw) ?? '') ?? suggestChainId(textOf(raw) ?? ''),
  })
}

/** Suggests the decimal form of a hexadecimal id, or the id without surrounding blanks or a trailing comma. */
function suggestChainId(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,64}$/i.test(text)) return String(BigInt(text))
  const likely = text.trim().replace(/,$/, '')
  return likely !== text && CHAIN_ID.test(likely) ? likely : undefined
}

/** Returns the symbol of the native coin of a chain; null if the chain is unknown. */
export function nativeSymbolOf(chain: string): string | null {
  return chainOf(chain)?.symbol ?? null
}

const CHAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const DECIMAL = /^(0|[1-9]\d{0,127})$/
