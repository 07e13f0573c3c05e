import { HttpError } from './http-error.ts'

/** Reads an address of a path into lower case; refuses with 400 what is none. */
export function readAddress(text: string): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new HttpError(400, `address must be 0x and 40 hex digits, but is ${JSON.stringify(text)}.`)
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
}

/** Reads a block's number, or its hash into lower case; refuses with 400 what is neither. */
export function readBlockId(text: string): number | string {
  if (HASH.test(text)) return text.toLowerCase()
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const expected = 'a block number, or a block hash of 0x and 64 hex digits'
  throw new HttpError(400, `blockId must be ${expected}, but is ${JSON.stringify(text)}.`)
}

/** Reads a transaction's hash into lower case; refuses with 400 what is none. */
export function readHash(text: string): string {
  if (HASH.test(text)) return text.toLowerCase()
  throw new HttpError(400, `txHash must be 0x and 64 hex digits, but is ${JSON.stringify(text)}.`)
}

/** Reads a token's id, a decimal whole number below 2^256, without zeros before it; refuses with 400 what is none. */
export function readTokenId(text: string): string {
  if (/^\d{1,78}$/.test(text) && BigInt(text) < 2n ** 256n) return String(BigInt(text))
  throw new HttpError(
    400,
    `tokenId must be a whole number below 2^256, in decimal digits, but is ${JSON.stringify(text)}.`,
  )
}

const HASH = /^0x[0-9a-f]{64}$/i
