import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Refusal } from './http-error.ts'

/** What a listing was asked for, its page token aside; absent bounds are null. */
export type Query = readonly (string | number | null)[]

/** Seals the place of the next page in an opaque token, and opens it again for the same query only. */
export type PageTokens = {
  seal(query: Query, place: number): string
  /** The place sealed; refuses with 400 a token of another query, of another service, or of nobody. */
  open(query: Query, token: string): number
}

/**
 * Creates the page tokens of one service: the place (a whole number below 2^48) and an HMAC over it and its query,
 * with a secret that dies with the service.
 */
export function createPageTokens(): PageTokens {
  const secret = randomBytes(32)
  const sign = (query: Query, place: Buffer) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(query))
      .update(place)
      .digest()
      .subarray(0, SIGNATURE_BYTES)

  return {
    seal(query, place) {
      const bytes = Buffer.alloc(PLACE_BYTES)
      bytes.writeUIntBE(place, 0, PLACE_BYTES)
      return Buffer.concat([bytes, sign(query, bytes)]).toString('base64url')
    },
    open(query, token) {
      const bytes = Buffer.from(token, 'base64url')
      const place = bytes.subarray(0, PLACE_BYTES)
      const signature = bytes.subarray(PLACE_BYTES)
      const canonical = bytes.toString('base64url') === token && signature.length === SIGNATURE_BYTES
      if (canonical && timingSafeEqual(signature, sign(query, place))) return place.readUIntBE(0, PLACE_BYTES)
      throw new Refusal(400, `pageToken is not one that this service gave for this query: ${ADVICE}.`)
    },
  }
}

const ADVICE = 'send a nextPageToken with the same path and parameters, or none for the first page'
const PLACE_BYTES = 6
const SIGNATURE_BYTES = 18
