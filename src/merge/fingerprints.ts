import { readFileSync, statSync, writeFileSync } from 'node:fs'

/** A transaction's hash as a number of 52 bits: the same for the same text, and as good as never for two. */
export function fingerprint(hash: string): number {
  let [high, low] = [0x811c9dc5, 0x9e3779b9]
  for (let at = 0; at < hash.length; at += 1) {
    const code = hash.charCodeAt(at)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x85ebca6b)
    low ^= low >>> 13
  }
  return (high >>> 0) * 2 ** 20 + (low >>> 12)
}

const BYTES_EACH = Float64Array.BYTES_PER_ELEMENT

export function writeFingerprints(file: string, fingerprints: readonly number[]): void {
  writeFileSync(file, new Uint8Array(Float64Array.from(fingerprints).buffer))
}

export function readFingerprints(file: string): Float64Array {
  return new Float64Array(new Uint8Array(readFileSync(file)).buffer)
}

/** So many are held at once: 16 MB. */
const MOST_AT_ONCE = 2_000_000

/** The fingerprints that stand more than once in these files. Where there are many, the files are read several times. */
export function findRepeated(files: readonly string[], mostAtOnce = MOST_AT_ONCE): Set<number> {
  const count = files.reduce((sum, file) => sum + statSync(file).size / BYTES_EACH, 0)
  const passes = Math.ceil(count / mostAtOnce)
  const repeated = new Set<number>()
  for (let pass = 0; pass < passes; pass += 1) {
    const parts = files.map((file) => readFingerprints(file).filter((one) => one % passes === pass))
    const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const part of parts) {
      all.set(part, end)
      end += part.length
    }
    all.sort()
    for (let at = 1; at < all.length; at += 1) {
      const one = all[at] as number
      if (one === all[at - 1]) repeated.add(one)
    }
  }
  return repeated
}
