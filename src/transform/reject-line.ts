import { BLOCKS } from '../core/model/listings.ts'
import { jsonText } from '../core/platform/json-text.ts'
import type { Reject } from './flatten-transaction.ts'

/**
 * A record that could not be normalized as its line of `rejects.ndjson`. Threads hand over this text and not the record,
 * which may be deeper than what they can send each other.
 */
export function rejectLine(chain: string, { wallet, transactionHash, list, reason, record }: Reject): string {
  return jsonText({
    chain_id: chain,
    wallet_address: wallet === BLOCKS ? null : wallet,
    transaction_hash: transactionHash,
    list,
    reason,
    record,
  })
}

/** What a line of `rejects.ndjson` tells. */
export function parseReject(line: string): Reject {
  const { wallet_address, transaction_hash, list, reason, record } = JSON.parse(line)
  return { wallet: wallet_address ?? BLOCKS, transactionHash: transaction_hash, list, reason, record }
}
