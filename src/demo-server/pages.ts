import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from './http-error.ts'
import type { Quirk } from './quirks.ts'

/** The parameters of a listing without the page token; missing bounds are null. */
type ListingKey = readonly (string | number | null)[]

export type PageQuery = {
  readonly pageToken: string | null
  /** Maximum number of entries. */
  readonly pageSize: number
  /** Order of the page; entries are given in ascending order. @default asc */
  readonly sortOrder?: 'asc' | 'desc'
}

/** A page of a listing, and the token of the next one. */
export type Selection<Entry> = {
  readonly selected: readonly Entry[]
  readonly next: { readonly nextPageToken?: string }
}

/** Selects pages of the listings of one service. */
export type SelectPage = ReturnType<typeof createPageSelector>

export function createPageSelector(quirks: ReadonlySet<Quirk>) {
  const countsEntries = quirks.has('offset-tokens')
  const { encode, decode } = countsEntries ? OFFSET_TOKENS : createSignedTokens()

  /**
   * Selects a page. Its token states the id of the first entry of the next page, which does not depend on the head, so it
   * remains valid when the chain grows. Without ids, or with the quirk `offset-tokens`, it states the number of entries
   * before that page.
   */
  return function select<Entry>(
    entries: readonly Entry[],
    key: ListingKey,
    { pageToken, pageSize, sortOrder }: PageQuery,
    idOf?: (entry: Entry) => number,
  ): Selection<Entry> {
    const isDescending = sortOrder === 'desc'
    const { length } = entries
    const id = countsEntries ? undefined : idOf
    const from = pageToken === null ? undefined : decode(key, pageToken)
    const countBefore = (from: number) => {
      if (id === undefined) return from
      if (isDescending) return length - lowerBound(entries, (entry) => id(entry) > from)
      return lowerBound(entries, (entry) => id(entry) >= from)
    }
    const start = from === undefined ? 0 : countBefore(from)
    const end = start + pageSize
    const following = entries[isDescending ? length - 1 - end : end]
    const next = following === undefined ? {} : { nextPageToken: encode(key, id?.(following) ?? end) }
    if (!isDescending) return { selected: entries.slice(start, end), next }
    const [low, high] = [Math.max(0, length - end), Math.max(0, length - start)]
    return { selected: entries.slice(low, high).reverse(), next }
  }
}

/**
 * Binary search: the index of the first entry that satisfies the predicate, or the length if none does. All entries after it
 * must satisfy it too.
 */
export function lowerBound<Entry>(entries: readonly Entry[], predicate: (entry: Entry) => boolean): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (predicate(entries[middle] as Entry)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Page tokens of one service. A token holds a position (an integer below 2^48) and an HMAC over the key of the listing and
 * the position, with a random secret per service, so that it is valid for the same query only.
 */
function createSignedTokens() {
  const secret = randomBytes(32)
  const encode = (key: ListingKey, position: number) => {
    const bytes = Buffer.alloc(POSITION_BYTES)
    bytes.writeUIntBE(position, 0, POSITION_BYTES)
    const digest = createHmac('sha256', secret).update(JSON.stringify(key)).update(bytes).digest()
    return Buffer.concat([bytes, digest.subarray(0, SIGNATURE_BYTES)]).toString('base64url')
  }
  const decode = (key: ListingKey, token: string) => {
    const bytes = Buffer.from(token, 'base64url')
    const position = bytes.length < POSITION_BYTES ? 0 : bytes.readUIntBE(0, POSITION_BYTES)
    const [expected, presented] = [Buffer.from(encode(key, position)), Buffer.from(token)]
    if (expected.length === presented.length && timingSafeEqual(expected, presented)) return position
    throw new HttpError(400, `pageToken is not valid for this query: ${PAGE_TOKEN_HINT}.`)
  }
  return { encode, decode }
}

/** Page tokens that state a number of entries and do not belong to a query. */
const OFFSET_TOKENS: ReturnType<typeof createSignedTokens> = {
  encode: (_, position) => String(position),
  decode: (_, token) => {
    if (/^\d{1,9}$/.test(token)) return Number(token)
    throw new HttpError(400, `pageToken is not a number: ${PAGE_TOKEN_HINT}.`)
  },
}

const PAGE_TOKEN_HINT =
  'send the nextPageToken of a response with the same path and parameters, or no token for the first page'
const POSITION_BYTES = 6
const SIGNATURE_BYTES = 18
