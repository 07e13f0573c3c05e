import { BLOCKS } from '../core/model/listings.ts'
import { jsonText } from '../core/platform/json-text.ts'
import type { Reject } from './flatten-transaction.ts'

/**
 * Formats a rejected record as a line of `rejects.ndjson`. Threads pass this text instead of the record,
 * because the record may be nested too deeply for a structured clone.
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

/** Parses a line of `rejects.ndjson`. */
export function parseReject(line: string): Reject {
  const { wallet_address, transaction_hash, list, reason, record } = JSON.parse(line)
  return { wallet: wallet_address ?? BLOCKS, transactionHash: transaction_hash, list, reason, record }
}
