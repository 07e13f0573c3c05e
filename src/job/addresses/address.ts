import { ADDRESS } from '../../core/model/address.ts'
import { quoted } from '../resolve/raw-value.ts'
import { checksummed, failsChecksum } from './checksum.ts'

export const ADDRESS_EXPECTED = '0x and 40 hexadecimal digits'

/** What is wrong with an address, in a complaint's words. */
export type AddressFault = {
  readonly expected: string
  /** Said in place of the text, where that may be a secret. */
  readonly found?: string
  readonly didYouMean?: string | undefined
}

/** What is wrong with the text of an address; undefined: nothing. Mixed letter case has to fit its checksum (EIP-55). */
export function faultOfAddress(text: string): AddressFault | undefined {
  if (!ADDRESS.test(text)) return faultOfForm(text)
  if (!failsChecksum(text)) return undefined
  const spelled = checksummed(text.toLowerCase())
  return {
    expected: `${spelled}, by its checksum (EIP-55): check every digit, or write it in lower case`,
  }
}

function faultOfForm(text: string): AddressFault {
  if (SEVERAL.test(text.slice(0, LONGEST_LINK)))
    return { expected: 'one address an entry, each after "- ", one below another' }
  const didYouMean = likelyAddress(text)
  if (didYouMean !== undefined) return { expected: ADDRESS_EXPECTED, didYouMean }
  if (KEY_OR_HASH.test(text))
    return { found: 'text of 64 hexadecimal digits (not shown)', expected: NO_KEY_OR_HASH }
  const why = REASONS.find(({ looks }) => looks.test(text))?.why
  return { expected: why === undefined ? ADDRESS_EXPECTED : `${ADDRESS_EXPECTED} (${why(text)})` }
}

/** The address that was most likely meant: its `0x` forgotten, or blanks, a link or a prefix of the chain around it. */
function likelyAddress(text: string): string | undefined {
  const within = /(?<![0-9a-z])0x([0-9a-f]{40})(?![0-9a-z])/i.exec(text.slice(0, LONGEST_LINK))?.[1]
  const digits = within ?? /^\s*([0-9a-f]{40})\s*$/i.exec(text)?.[1]
  return digits === undefined ? undefined : `0x${digits}`
}

const LONGEST_LINK = 500

const SEVERAL = /0x[0-9a-f]{40}[^0-9a-f].*0x[0-9a-f]{40}/i
const KEY_OR_HASH = /^\s*(0x)?[0-9a-f]{64}\s*$/i
const NO_KEY_OR_HASH = `${ADDRESS_EXPECTED}; 64 are a transaction's hash, or a private key, which belongs in no file`

/** What else people give for an address; the first that fits says most. */
const REASONS: readonly { looks: RegExp; why: (text: string) => string }[] = [
  { looks: /^0x[0-9a-f]+$/i, why: (text) => `not ${text.length - 2}` },
  { looks: /^0x[0-9a-f]*(…|\.{2,})[0-9a-f]*$/i, why: () => 'whole, not shortened' },
  { looks: /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u, why: () => 'names are not looked up' },
  { looks: /^([13][1-9a-z]{25,38}|bc1[0-9a-z]+)$/i, why: () => 'Bitcoin is no EVM chain' },
  { looks: /^[XP]-\w+$/, why: () => "the C-chain's address begins with 0x" },
  { looks: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, why: () => "an EVM chain's; this looks like Solana's" },
  { looks: /^0x.{38,42}$/, why: (text) => `${quoted(/[^0-9a-f]/iu.exec(text.slice(2))?.[0] ?? '')} is none` },
]
