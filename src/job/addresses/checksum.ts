import { keccak_256 } from '@noble/hashes/sha3.js'

/** Returns a lower-case address with the EIP-55 checksum, which is encoded in the case of its letters. */
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

/** Whether a mixed-case address violates its checksum. Addresses in a single case have none. */
export function hasBadChecksum(address: string): boolean {
  const digits = address.slice(2)
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits)
  return isMixed && toChecksumAddress(address.toLowerCase()) !== address
}
