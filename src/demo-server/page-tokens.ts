import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from './http-error.ts'

/** The parameters of a listing without the page token; missing bounds are null. */
export type ListingKey = readonly (string | number | null)[]

/** Encodes the position of the next page as an opaque token that is valid for the same query only. */
export type PageTokens = {
  encode(listingKey: ListingKey, position: number): string
  /** Returns the encoded position. Throws `HttpError` 400 for a token of another query or service, or a forged one. */
  decode(listingKey: ListingKey, token: string): number
}

/**
 * Creates the page tokens of one service. A token holds the position (an integer below 2^48) and an HMAC over the query and
 * the position, with a random secret per service.
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
      throw new HttpError(400, `pageToken is not valid for this query: ${PAGE_TOKEN_HINT}.`)
    },
  }
}

/** Creates page tokens that state the position, and do not belong to a query. */
export function createOffsetTokens(): PageTokens {
  return {
    encode: (_, position) => String(position),
    decode: (_, token) => {
      if (/^\d{1,9}$/.test(token)) return Number(token)
      throw new HttpError(400, `pageToken is not a number: ${PAGE_TOKEN_HINT}.`)
    },
  }
}

const PAGE_TOKEN_HINT =
  'send the nextPageToken of a response with the same path and parameters, or no token for the first page'
const POSITION_BYTES = 6
const SIGNATURE_BYTES = 18
