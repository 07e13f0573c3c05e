import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chunkFile } from '../../src/write/chunk.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

test('a chunk counts rows, bytes and its longest line', () => {
  const path = join(tempFolder(), 'chunk')
  const chunk = chunkFile(path).open()
  chunk.write({ bytes: Buffer.from('é\nbb\n'), rows: 2, longest: 3 })
  chunk.write({ bytes: Buffer.from('c\n'), rows: 1, longest: 2 })
  expect(chunk.finish()).toEqual({ path, start: 0, rows: 3, bytes: 8, longest: 3 })
  expect(readFileSync(path, 'utf8')).toBe('é\nbb\nc\n')
})

test('a long chunk is on disk in the order of its lines', () => {
  const path = join(tempFolder(), 'chunk')
  const chunk = chunkFile(path).open()
  const lines = Array.from({ length: 9 }, (_, at) => `${at}${'x'.repeat(100_000)}\n`)
  for (const text of lines) chunk.write({ bytes: Buffer.from(text), rows: 1, longest: text.length })
  expect(chunk.finish()).toMatchObject({ rows: 9, bytes: 900_018, longest: 100_002 })
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''))
})

test('chunks of one file follow each other, also once it was closed', () => {
  const path = join(tempFolder(), 'chunk')
  const file = chunkFile(path)
  const staged = ['é\n', '', 'bb\n'].map((text) => {
    const chunk = file.open()
    chunk.write({ bytes: Buffer.from(text), rows: text.split('\n').length - 1, longest: text.length })
    file.close()
    return chunk.finish()
  })
  expect(staged.map(({ start, bytes }) => [start, bytes])).toEqual([
    [0, 3],
    [3, 0],
    [3, 3],
  ])
  expect(readFileSync(path, 'utf8')).toBe('é\nbb\n')
})

test('a chunk without rows makes no file', () => {
  const path = join(tempFolder(), 'chunk')
  expect(chunkFile(path).open().finish()).toEqual({ path, start: 0, rows: 0, bytes: 0, longest: 0 })
  expect(existsSync(path)).toBe(false)
})

test('a chunk that cannot be written fails as output', () => {
  const chunk = chunkFile(join(tempFolder(), 'missing', 'chunk')).open()
  expect(() => chunk.write({ bytes: Buffer.from('a\n'), rows: 1, longest: 2 })).toThrow(
    expect.objectContaining({
      code: 'OUTPUT_FAILED',
      message: expect.stringContaining('cannot stage rows'),
    }),
  )
})
