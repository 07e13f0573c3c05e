import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openObjectFolder, temporaryFor } from '../../src/storage/object-folder.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Objects, each next to an unfinished temporary file of a killed process. */
async function openWithUnfinished(paths: readonly string[]) {
  const output = tempFolder()
  const objects = await openObjectFolder({ output }, 'objects')
  const folder = join(output, 'objects')
  for (const path of paths) {
    await objects.putText(path, 'finished')
    writeFileSync(temporaryFor(join(folder, path)), 'unfin')
  }
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  return { objects, files }
}

test('objects that a killed process had begun to write are not listed', async () => {
  const { objects, files } = await openWithUnfinished(['a/1.json', 'current.json'])
  expect(files()).toHaveLength(4)
  expect([...(await objects.paths(''))].sort()).toEqual(['a/1.json', 'current.json'])
})

test.for([
  { start: 'a/', left: ['ab/2.json', 'current.json'] },
  { start: 'current.json', left: ['a/1.json', 'ab/2.json'] },
  { start: 'a', left: ['current.json'] },
])('clearing $start also removes what a killed process had begun to write there', async ({ start, left }) => {
  const { objects, files } = await openWithUnfinished(['a/1.json', 'ab/2.json', 'current.json'])
  await objects.clear(start)
  expect([...(await objects.paths(''))].sort()).toEqual(left)
  expect(files()).toHaveLength(2 * left.length)
})

test('an object that exists is not written again if it must be absent, and nothing unfinished is left', async () => {
  const { objects, files } = await openWithUnfinished([])
  expect([
    await objects.putTextIfAbsent('c/1.json', 'first'),
    await objects.putTextIfAbsent('c/1.json', 'second'),
  ]).toEqual([true, false])
  expect(await objects.readText('c/1.json')).toBe('first')
  expect(files()).toEqual(['1.json'])
})
