import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from './http-error.ts'

/** What a listing was asked for, its page token aside; absent bounds are null. */
export type ListingKey = readonly (string | number | null)[]

/** Seals the place of the next page in an opaque token, and opens it again for the same query only. */
export type PageTokens = {
  encode(listingKey: ListingKey, position: number): string
  /** The place sealed; refuses with 400 a token of another query, of another service, or of nobody. */
  decode(listingKey: ListingKey, token: string): number
}

/**
 * Creates the page tokens of one service: the place (a whole number below 2^48) and an HMAC over it and its query,
 * with a secret that dies with the service.
 */
export function createPageTokens(): PageTokens {
  const secret = randomBytes(32)
  const sign = (listingKey: ListingKey, position: Buffer) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(listingKey))
      .update(position)
      .digest()
      .subarray(0, SIGNATURE_BYTES)

  return {
    encode(listingKey, position) {
      const bytes = Buffer.alloc(POSITION_BYTES)
      bytes.writeUIntBE(position, 0, POSITION_BYTES)
      return Buffer.concat([bytes, sign(listingKey, bytes)]).toString('base64url')
    },
    decode(listingKey, token) {
      const bytes = Buffer.from(token, 'base64url')
      const position = bytes.subarray(0, POSITION_BYTES)
      const signature = bytes.subarray(POSITION_BYTES)
      const canonical = bytes.toString('base64url') === token && signature.length === SIGNATURE_BYTES
      if (canonical && timingSafeEqual(signature, sign(listingKey, position)))
        return position.readUIntBE(0, POSITION_BYTES)
      throw new HttpError(
        400,
        `pageToken is not one that this service gave for this query: ${PAGE_TOKEN_HINT}.`,
      )
    },
  }
}

const PAGE_TOKEN_HINT = 'send a nextPageToken with the same path and parameters, or none for the first page'
const POSITION_BYTES = 6
const SIGNATURE_BYTES = 18
