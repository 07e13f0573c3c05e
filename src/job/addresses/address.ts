import * as v from 'valibot'
import { ADDRESS } from '../../core/model/address.ts'
import { keccak256 } from '../../core/platform/keccak256.ts'
import { type Problem, quoted, textOf } from '../diagnostics.ts'
import { type FieldType, fieldType } from '../fields/field-type.ts'

export const ADDRESS_EXPECTED = '0x and 40 hexadecimal digits'

/** An address in any letter case. An unquoted one, which YAML parses as a number, is read from its source text. */
export const address: FieldType<string> = fieldType({
  schema: { type: 'string', pattern: ADDRESS.source },
  parsed: v.pipe(v.string(), v.regex(ADDRESS)),
  accept: (raw) => {
    const text = textOf(raw)
    return text === undefined || addressProblem(text) !== undefined ? undefined : text
  },
  problem: (raw) => addressProblem(textOf(raw) ?? '') ?? { expected: ADDRESS_EXPECTED },
})

/** Returns the problem of an address, or undefined if it is valid. Mixed case must match the EIP-55 checksum. */
export function addressProblem(text: string): Problem | undefined {
  if (!ADDRESS.test(text)) return formatProblem(text)
  if (!hasBadChecksum(text)) return undefined
  const checksummedAddress = toChecksumAddress(text.toLowerCase())
  return {
    expected: `${checksummedAddress}, by its checksum (EIP-55): check every digit, or write it in lower case`,
  }
}

function formatProblem(text: string): Problem {
  if (MULTIPLE_ADDRESSES.test(text.slice(0, MAX_LINK_LENGTH)))
    return { expected: 'one address per list item' }
  const didYouMean = suggestAddress(text)
  if (didYouMean !== undefined) return { expected: ADDRESS_EXPECTED, didYouMean }
  if (KEY_OR_HASH.test(text))
    return { found: 'text of 64 hexadecimal digits (not shown)', expected: NO_KEY_OR_HASH }
  const explain = KNOWN_MISTAKES.find(({ pattern }) => pattern.test(text))?.explain
  return { expected: explain === undefined ? ADDRESS_EXPECTED : `${ADDRESS_EXPECTED} (${explain(text)})` }
}

/** Suggests an address for text without `0x`, or with blanks, a link or a chain prefix around the address. */
function suggestAddress(text: string): string | undefined {
  const embeddedDigits = /(?<![0-9a-z])0x([0-9a-f]{40})(?![0-9a-z])/i.exec(
    text.slice(0, MAX_LINK_LENGTH),
  )?.[1]
  const digits = embeddedDigits ?? /^\s*([0-9a-f]{40})\s*$/i.exec(text)?.[1]
  return digits === undefined ? undefined : `0x${digits}`
}

const MAX_LINK_LENGTH = 500

const MULTIPLE_ADDRESSES = /0x[0-9a-f]{40}[^0-9a-f].*0x[0-9a-f]{40}/i
const KEY_OR_HASH = /^\s*(0x)?[0-9a-f]{64}\s*$/i
const NO_KEY_OR_HASH = `${ADDRESS_EXPECTED}; 64 digits are a transaction hash or a private key; never put a private key in a file`

/** Other things that people give instead of an address. The first match wins. */
const KNOWN_MISTAKES: readonly { pattern: RegExp; explain: (text: string) => string }[] = [
  { pattern: /^0x[0-9a-f]+$/i, explain: (text) => `not ${text.length - 2}` },
  { pattern: /^0x[0-9a-f]*(…|\.{2,})[0-9a-f]*$/i, explain: () => 'the full address' },
  { pattern: /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u, explain: () => 'names are not looked up' },
  { pattern: /^([13][1-9a-z]{25,38}|bc1[0-9a-z]+)$/i, explain: () => 'Bitcoin is not an EVM chain' },
  { pattern: /^[XP]-\w+$/, explain: () => "the C-chain's address begins with 0x" },
  { pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, explain: () => 'this looks like a Solana address' },
  {
    pattern: /^0x.{38,42}$/,
    explain: (text) => `${quoted(/[^0-9a-f]/iu.exec(text.slice(2))?.[0] ?? '')} is not a hex digit`,
  },
]

/** Returns a lower-case address with the EIP-55 checksum, which is encoded in the case of its letters. */
export function toChecksumAddress(address: string): string {
  const digits = address.slice(2)
  const hash = keccak256(digits)
  let result = '0x'
  for (const [index, digit] of [...digits].entries()) {
    const byte = hash[index >> 1] ?? 0
    const nibble = index % 2 === 0 ? byte >> 4 : byte & 15
    result += nibble >= 8 ? digit.toUpperCase() : digit
  }
  return result
}

/** Whether a mixed-case address violates its checksum. Addresses in a single case have none. */
function hasBadChecksum(address: string): boolean {
  const digits = address.slice(2)
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits)
  return isMixed && toChecksumAddress(address.toLowerCase()) !== address
}
