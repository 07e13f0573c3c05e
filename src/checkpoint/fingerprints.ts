import type { BlockRange } from '../core/model/model.ts'
import type { RecordLocation } from './record-log.ts'

/** Locations in the log of the transaction fingerprints of written ranges, by `hashesKey`. */
type FingerprintState = { hashes: Map<string, RecordLocation[]>; written: readonly BlockRange[] }

export const hashesKey = ({ from, to }: BlockRange): string => `${from}-${to}`

/** Adds a location of transaction fingerprints of a range. A range can have several. */
export function applyHashes(
  { hashes }: Pick<FingerprintState, 'hashes'>,
  range: BlockRange,
  { offset, bytes }: RecordLocation,
): void {
  hashes.set(hashesKey(range), [...(hashes.get(hashesKey(range)) ?? []), { offset, bytes }])
}

/** Drops fingerprints of ranges that were not published, or that were replaced by a later run. */
export function dropUnusedHashes({ hashes, written }: FingerprintState): void {
  const retained = new Set(written.map(hashesKey))
  for (const key of hashes.keys()) if (!retained.has(key)) hashes.delete(key)
}
