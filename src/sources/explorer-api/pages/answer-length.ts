import type { RequestContext } from '../../../http/request.ts'
import type { ListingName } from '../item.ts'

/** The longest answer of each service and listing in this process. It was not limited to fewer records. */
const longest = new WeakMap<RequestContext['client'], Map<ListingName, number>>()

/**
 * Whether records may be missing from an answer. Plans and instances lower the requested number without a notice, such
 * as to 1,000. So a list of a round length may be full, unless a longer one was answered before; at worst, its last
 * block is requested again.
 *
 * @param offset the requested number of records
 */
export function mayBeFull(
  { client }: Pick<RequestContext, 'client'>,
  { listing, length, offset }: { listing: ListingName; length: number; offset: number },
): boolean {
  const lengths = longest.get(client) ?? new Map<ListingName, number>()
  const known = lengths.get(listing) ?? 0
  longest.set(client, lengths.set(listing, Math.max(known, length)))
  return length >= offset || (length >= known && length >= MIN_ROUND_LENGTH && length % ROUND_LENGTH === 0)
}

const MIN_ROUND_LENGTH = 100
const ROUND_LENGTH = 50
