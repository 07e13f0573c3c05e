import { HttpError } from './http-error.ts'

/** Reads an address from a path, in lower case. Throws `HttpError` 400 if it is malformed. */
export function readAddress(text: string): string {
  if (isAddress(text)) return text.toLowerCase()
  throw new HttpError(400, `address must be 0x and 40 hex digits, but is ${JSON.stringify(text)}.`)
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
}

/** Reads a block number, or a block hash in lower case. Throws `HttpError` 400 if it is neither. */
export function readBlockId(text: string): number | string {
  if (HASH.test(text)) return text.toLowerCase()
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const expected = 'a block number, or a block hash of 0x and 64 hex digits'
  throw new HttpError(400, `blockId must be ${expected}, but is ${JSON.stringify(text)}.`)
}

/** Reads a transaction hash in lower case. Throws `HttpError` 400 if it is malformed. */
export function readHash(text: string): string {
  if (HASH.test(text)) return text.toLowerCase()
  throw new HttpError(400, `txHash must be 0x and 64 hex digits, but is ${JSON.stringify(text)}.`)
}

/**
 * Reads a token id, a decimal integer below 2^256, and strips leading zeros. Throws `HttpError` 400 if it is malformed.
 */
export function readTokenId(text: string): string {
  if (/^\d{1,78}$/.test(text) && BigInt(text) < 2n ** 256n) return String(BigInt(text))
  throw new HttpError(
    400,
    `tokenId must be a whole number below 2^256, in decimal digits, but is ${JSON.stringify(text)}.`,
  )
}

const HASH = /^0x[0-9a-f]{64}$/i
