import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type FingerprintLocation,
  findDuplicates,
  fingerprint,
  fingerprintBytes,
  readFingerprints,
} from '../../../src/transform/merge/fingerprints.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const hashOf = (n: number) => `0x${(n * 7_919_000_003).toString(16).padStart(13, 'a')}${'0'.repeat(51)}`

/** Appends lists of fingerprints alternately to two files. */
function stored(lists: readonly (readonly number[])[]): FingerprintLocation[] {
  const folder = tempFolder()
  const ends = [0, 0]
  return lists.map((list, at) => {
    const path = join(folder, String(at % 2))
    const bytes = fingerprintBytes(list)
    appendFileSync(path, bytes)
    const start = ends[at % 2] ?? 0
    ends[at % 2] = start + bytes.length
    return { path, start, bytes: bytes.length }
  })
}

test.for([1, 3, 10, 1_000])('finds duplicates with at most %i fingerprints in memory', (maxInMemory) => {
  const prints = Array.from({ length: 100 }, (_, n) => fingerprint(hashOf(n)))
  const [first = 0, second = 0] = [prints[7], prints[60]]
  const lists = stored([prints.slice(0, 50), [], prints.slice(50), [first], [second, second]])
  expect(findDuplicates(lists, maxInMemory)).toEqual(new Set([first, second]))
  expect(findDuplicates(lists.slice(0, 3), maxInMemory)).toEqual(new Set())
})

test('no files and empty files have no duplicates', () => {
  expect(findDuplicates([])).toEqual(new Set())
  expect(findDuplicates(stored([[], []]))).toEqual(new Set())
})

test('a truncated file is an error', () => {
  const [location] = stored([[1, 2]]) as [FingerprintLocation]
  expect(() => readFingerprints({ ...location, bytes: location.bytes + 8 })).toThrow('unexpected end of')
})

test('fingerprints are stored exactly, and differ for texts that are not hashes', () => {
  const texts = [hashOf(1), `0x${'f'.repeat(64)}`, '0x', 'bad!', 'bad?', '', 'é'.repeat(9_000)]
  const prints = texts.map(fingerprint)
  expect(new Set(prints).size).toBe(texts.length)
  expect(prints.every(Number.isSafeInteger)).toBe(true)
  const [, location] = stored([[], prints])
  expect([...readFingerprints(location as FingerprintLocation)]).toEqual(prints)
})

test.for([
  { count: 2_000_000, times: 1 },
  { count: 2_000_001, times: 2 },
])('reads $count fingerprints $times times to hold at most 16 MB in memory', ({ count, times }) => {
  const [at = { path: '', bytes: 0 }] = stored([Array.from({ length: count }, (_, n) => n)])
  let reads = 0
  const counted = {
    bytes: at.bytes,
    get path() {
      reads += 1
      return at.path
    },
  }
  expect([findDuplicates([counted]).size, reads]).toEqual([0, times])
})
