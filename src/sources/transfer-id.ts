import { sha256 } from '../core/platform/sha256.ts'

/** What identifies a transfer whose source states no log index. */
type TransferContent = {
  token_address: string
  from_address: string | null
  to_address: string | null
  /** Absent for ERC-20. */
  token_id?: string
  /** Absent for ERC-721. */
  value?: string
}

/**
 * The `transfer_id` of a transfer with a log index (CONTRACT section 2.3).
 *
 * @param ordinal position of an ERC-1155 entry within its event
 */
export function logTransferId(logIndex: number, ordinal?: number): string {
  return ordinal === undefined ? String(logIndex) : `${logIndex}.${ordinal}`
}

/** How often each content has occurred among the transfers of one table of one view. */
export type Occurrences = Map<string, number>

/**
 * The `transfer_id` of a transfer without a log index; it is counted in `occurrences`. Every view of a transaction contains
 * all equal transfers between its wallet and the other party, so the ids in several views agree.
 */
export function contentTransferId(
  { token_address, from_address, to_address, token_id, value }: TransferContent,
  occurrences: Occurrences,
): string {
  const content = JSON.stringify([token_address, from_address, to_address, token_id ?? null, value ?? null])
  const occurrence = occurrences.get(content) ?? 0
  occurrences.set(content, occurrence + 1)
  return contentId(content, occurrence)
}

/** Hexadecimal digits of the hash in an id by content. */
const HASH_DIGITS = 16

/** The id of a fact without an index: the hash of its content, and its 0-based occurrence in the transaction. */
export function contentId(content: string, occurrence: number): string {
  return `${sha256(content).slice(0, HASH_DIGITS)}-${occurrence}`
}

/** Orders ids by content: by hash, then by occurrence. */
export function compareContentIds(a: string, b: string): number {
  const [hash, otherHash] = [a.slice(0, HASH_DIGITS), b.slice(0, HASH_DIGITS)]
  if (hash !== otherHash) return hash < otherHash ? -1 : 1
  return Number(a.slice(HASH_DIGITS + 1)) - Number(b.slice(HASH_DIGITS + 1))
}
