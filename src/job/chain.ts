import { textOf } from './given.ts'
import { accepting, type Kind } from './kinds.ts'

/** A chain's id as exact text: an integer of any size, or text that fits into a URL's path as it is. */
export function chainId(): Kind<string> {
  return accepting({
    schema: {
      anyOf: [
        { type: 'string', pattern: ID.source },
        { type: 'integer', minimum: 0 },
      ],
    },
    expected: 'a chain id: an integer, or text of letters, digits, "-", "_" and "."',
    accept: (given) => {
      const pattern = typeof given.value === 'string' ? ID : DECIMAL
      const text = textOf(given)
      return text !== undefined && pattern.test(text) ? text : undefined
    },
    suggest: (given) => likelyId(textOf(given) ?? ''),
  })
}

/** The id in digits of a hexadecimal one; an id without the blanks or the comma behind it. */
function likelyId(text: string): string | undefined {
  if (/^0x[0-9a-f]{1,64}$/i.test(text)) return String(BigInt(text))
  const likely = text.trim().replace(/,$/, '')
  return likely !== text && ID.test(likely) ? likely : undefined
}

/** The service's name of a chain's coin, by the chain's EVM id, where we know it. */
export function nativeSymbolOf(chain: string): string | null {
  return Object.entries(CHAINS_BY_SYMBOL).find(([, chains]) => chains.includes(chain))?.[0] ?? null
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const DECIMAL = /^(0|[1-9]\d{0,127})$/

/** Main nets and test nets; several chains have ether as their coin. */
const CHAINS_BY_SYMBOL: Readonly<Record<string, readonly string[]>> = {
  ETH: [
    '1',
    '10',
    '324',
    '8453',
    '42161',
    '42170',
    '59144',
    '81457',
    '534352',
    '7777777',
    '11155111',
    '17000',
  ],
  AVAX: ['43114', '43113'],
  BNB: ['56', '97', '204'],
  POL: ['137', '80002'],
  xDAI: ['100'],
  CELO: ['42220'],
  MNT: ['5000'],
  S: ['146'],
  CRO: ['25'],
  GLMR: ['1284'],
}
