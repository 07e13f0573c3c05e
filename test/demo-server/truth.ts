import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Item } from './ask.ts'

/** What the chain's own node says, by other methods than those the items were read with. */
export const truth: {
  membership: Record<string, { items: number; sha256OfHashesInOrder: string }>
  blockTxCounts: number[]
} = JSON.parse(
  gunzipSync(readFileSync(new URL('../fixtures/evm/truth.json.gz', import.meta.url))).toString('utf8'),
)

/** Digest of a history as the truth holds it: SHA-256 of the transaction hashes, one a line. */
export function digestHistory(items: readonly Item[]): string {
  const hashes = items.map((item) => item.nativeTransaction.txHash)
  return createHash('sha256').update(hashes.join('\n')).digest('hex')
}
