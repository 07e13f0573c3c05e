import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Item } from './requests.ts'

/** Figures from the chain's node, collected with other RPC methods than the items: an independent reference. */
export const expected: {
  membership: Record<string, { items: number; sha256OfHashesInOrder: string }>
  blockTxCounts: number[]
} = JSON.parse(
  gunzipSync(readFileSync(new URL('../fixtures/evm/truth.json.gz', import.meta.url))).toString('utf8'),
)

/** Digest of a history in the format of the reference: SHA-256 of the transaction hashes, one per line. */
export function digestHistory(items: readonly Item[]): string {
  const hashes = items.map((item) => item.nativeTransaction.txHash)
  return createHash('sha256').update(hashes.join('\n')).digest('hex')
}
