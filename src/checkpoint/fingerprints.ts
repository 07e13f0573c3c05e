import type { BlockRange } from '../core/model/model.ts'
import type { RecordLocation } from './record-log.ts'

/** Where the log has the fingerprints of written blocks' transactions, by `hashesKey`. */
type FingerprintState = { hashes: Map<string, RecordLocation[]>; written: readonly BlockRange[] }

export const hashesKey = ({ from, to }: BlockRange): string => `${from}-${to}`

/** Records where fingerprints of these blocks' transactions are: all of them, or a part. */
export function applyHashes(
  { hashes }: Pick<FingerprintState, 'hashes'>,
  range: BlockRange,
  { offset, bytes }: RecordLocation,
): void {
  hashes.set(hashesKey(range), [...(hashes.get(hashesKey(range)) ?? []), { offset, bytes }])
}

/** Drops fingerprints of blocks that were not written in the end, or were written again. */
export function dropUnusedHashes({ hashes, written }: FingerprintState): void {
  const retained = new Set(written.map(hashesKey))
  for (const key of hashes.keys()) if (!retained.has(key)) hashes.delete(key)
}
