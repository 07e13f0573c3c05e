import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendLines, openAppendFile, readLines } from '../../src/files/chunk.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

const linesOf = (text: string) => ({
  bytes: Buffer.from(text),
  rows: text.split('\n').length - 1,
  maxLineBytes: text.length,
})

test('a chunk has the offset, the number and the maximum length of its lines', () => {
  const path = join(tempFolder(), 'chunk')
  const file = openAppendFile(path)
  appendLines(file, linesOf('a\n'))
  const chunk = appendLines(file, { bytes: Buffer.from('é\nbb\n'), rows: 2, maxLineBytes: 3 })
  expect(chunk).toEqual({ path, start: 2, rows: 2, bytes: 6, maxLineBytes: 3 })
  expect(readFileSync(path, 'utf8')).toBe('a\né\nbb\n')
})

test('chunks are appended to a file, even after it was closed', () => {
  const path = join(tempFolder(), 'chunk')
  const file = openAppendFile(path)
  const staged = ['é\n', '', 'bb\n'].map((text) => {
    const chunk = appendLines(file, linesOf(text))
    file.close()
    return chunk
  })
  expect(staged.map(({ start, bytes }) => [start, bytes])).toEqual([
    [0, 3],
    [3, 0],
    [3, 3],
  ])
  expect(file.end).toBe(6)
  expect(readFileSync(path, 'utf8')).toBe('é\nbb\n')
})

test('a chunk without rows creates no file', () => {
  const path = join(tempFolder(), 'chunk')
  expect(appendLines(openAppendFile(path), linesOf(''))).toMatchObject({ start: 0, rows: 0, bytes: 0 })
  expect(existsSync(path)).toBe(false)
})

test('lines that cannot be written fail with OUTPUT_FAILED', () => {
  const file = openAppendFile(join(tempFolder(), 'missing', 'chunk'))
  expect(() => appendLines(file, linesOf('a\n'))).toThrow(
    expect.objectContaining({
      code: 'OUTPUT_FAILED',
      message: expect.stringContaining('cannot stage rows'),
    }),
  )
})

test.for([1, 3, 4, 7, 100])('chunks are read in order, in blocks of %i bytes', (room) => {
  const [one, other] = [join(tempFolder(), 'one'), join(tempFolder(), 'other')]
  writeFileSync(one, 'aaaabbbbcccc')
  writeFileSync(other, '11112222')
  const chunks = [
    { path: one, start: 4, bytes: 4 },
    { path: other, bytes: 4 },
    { path: one, start: 0, bytes: 0 },
    { path: one, start: 0, bytes: 3 },
  ]
  const blocks = Array.from(readLines(chunks, Buffer.alloc(room)), String)
  expect(blocks.join('')).toBe('bbbb1111aaa')
  expect(blocks.slice(0, -1).every((block) => block.length === room)).toBe(true)
})

test('a chunk that is longer than its file is an error', () => {
  const path = tempFile('short', 'abc')
  expect(() => [...readLines([{ path, start: 1, bytes: 3 }])]).toThrow('ends too early')
})
