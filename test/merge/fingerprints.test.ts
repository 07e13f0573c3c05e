import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  findRepeated,
  fingerprint,
  readFingerprints,
  writeFingerprints,
} from '../../src/merge/fingerprints.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const hashOf = (n: number) => `0x${(n * 7_919_000_003).toString(16).padStart(13, 'a')}${'0'.repeat(51)}`

function filesOf(lists: readonly (readonly number[])[]): string[] {
  const folder = tempFolder()
  return lists.map((list, at) => {
    const file = join(folder, String(at))
    writeFingerprints(file, list)
    return file
  })
}

test.for([1, 3, 10, 1_000])('what stands twice is found, %i at once', (mostAtOnce) => {
  const prints = Array.from({ length: 100 }, (_, n) => fingerprint(hashOf(n)))
  const [first = 0, second = 0] = [prints[7], prints[60]]
  const files = filesOf([prints.slice(0, 50), [], prints.slice(50), [first], [second, second]])
  expect(findRepeated(files, mostAtOnce)).toEqual(new Set([first, second]))
  expect(findRepeated(files.slice(0, 3), mostAtOnce)).toEqual(new Set())
})

test('no files and empty ones have nothing twice', () => {
  expect(findRepeated([])).toEqual(new Set())
  expect(findRepeated(filesOf([[], []]))).toEqual(new Set())
})

test('a fingerprint is kept exactly and tells texts that are no hashes apart', () => {
  const texts = [hashOf(1), `0x${'f'.repeat(64)}`, '0x', 'bad!', 'bad?', '', 'é'.repeat(9_000)]
  const prints = texts.map(fingerprint)
  expect(new Set(prints).size).toBe(texts.length)
  expect(prints.every(Number.isSafeInteger)).toBe(true)
  const [file = ''] = filesOf([prints])
  expect([...readFingerprints(file)]).toEqual(prints)
})
