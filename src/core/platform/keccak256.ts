import { keccak_256 } from '@noble/hashes/sha3.js'

/** Keccak-256 of text, as Ethereum uses it for addresses and the selectors of methods. */
export const keccak256 = (text: string): Buffer => Buffer.from(keccak_256(Buffer.from(text, 'latin1')))
