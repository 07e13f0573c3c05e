import { keccak_256 } from '@noble/hashes/sha3.js'

/** The address, given in lower case, in the spelling of EIP-55: the letters' case is a checksum of the digits. */
export function toChecksumAddress(address: string): string {
  const digits = address.slice(2)
  const hash = keccak_256(Buffer.from(digits, 'latin1'))
  let result = '0x'
  for (const [index, digit] of [...digits].entries()) {
    const byte = hash[index >> 1] ?? 0
    const nibble = index % 2 === 0 ? byte >> 4 : byte & 15
    result += nibble >= 8 ? digit.toUpperCase() : digit
  }
  return result
}

/** Whether capitals and small letters are mixed against the checksum; letters of one case have none. */
export function hasBadChecksum(address: string): boolean {
  const digits = address.slice(2)
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits)
  return isMixed && toChecksumAddress(address.toLowerCase()) !== address
}
