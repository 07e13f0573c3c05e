import { closeSync, openSync, readSync } from 'node:fs'

/**
 * A 52-bit fingerprint of a transaction hash. Equal hashes have equal fingerprints; collisions are very
 * unlikely.
 */
export function fingerprint(hash: string): number {
  let high = 0x811c9dc5
  let low = 0x9e3779b9
  for (let at = 0; at < hash.length; at += 1) {
    const code = hash.charCodeAt(at)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x85ebca6b)
    low ^= low >>> 13
  }
  return (high >>> 0) * 2 ** 20 + (low >>> 12)
}

const FINGERPRINT_BYTES = Float64Array.BYTES_PER_ELEMENT

/**
 * Location of fingerprints in a file, encoded by `fingerprintBytes`. `start` and `bytes` are in bytes;
 * `start` defaults to 0.
 */
export type FingerprintLocation = { path: string; start?: number; bytes: number }

export function fingerprintBytes(fingerprints: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(fingerprints).buffer)
}

export function readFingerprints({ path, start = 0, bytes }: FingerprintLocation): Float64Array {
  const read = new Float64Array(bytes / FINGERPRINT_BYTES)
  if (bytes === 0) return read
  const file = openSync(path, 'r')
  try {
    if (readSync(file, read, 0, bytes, start) < bytes) throw new Error(`unexpected end of ${path}`)
  } finally {
    closeSync(file)
  }
  return read
}

/** Maximum number of fingerprints in memory at once (16 MB). */
const MAX_IN_MEMORY = 2_000_000

/**
 * Returns the fingerprints that occur more than once in all these locations together. If there are more than
 * `maxInMemory`, they are read in several rounds, each of which looks at one residue class.
 */
export function findDuplicates(
  all: readonly FingerprintLocation[],
  maxInMemory = MAX_IN_MEMORY,
): Set<number> {
  const count = all.reduce((sum, { bytes }) => sum + bytes / FINGERPRINT_BYTES, 0)
  const rounds = Math.ceil(count / maxInMemory)
  const duplicates = new Set<number>()
  for (let round = 0; round < rounds; round += 1) {
    const parts = all.map((at) => readFingerprints(at).filter((value) => value % rounds === round))
    const sorted = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const part of parts) {
      sorted.set(part, end)
      end += part.length
    }
    sorted.sort()
    for (let at = 1; at < sorted.length; at += 1) {
      const value = sorted[at] as number
      if (value === sorted[at - 1]) duplicates.add(value)
    }
  }
  return duplicates
}
