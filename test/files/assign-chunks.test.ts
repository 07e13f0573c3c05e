import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLines, sumChunks } from '../../src/files/chunk.ts'
import { assignChunks } from '../../src/files/write-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { sample, textOf } from './tables.ts'

/** Assigns chunks with the given lines to files. Returns the text and the number of rows of each file. */
async function assign(chunks: readonly (readonly string[])[], how: { maxRows: number }) {
  const folder = tempFolder()
  const staged = chunks.map((lines, at) => {
    const path = join(folder, String(at))
    const bytes = Buffer.from(lines.join(''))
    writeFileSync(path, bytes)
    return { path, rows: lines.length, bytes: bytes.length, maxLineBytes: 7 }
  })
  const files = await assignChunks(staged, how)
  return files.map((pieces) => {
    const blocks = Array.from(readLines(pieces), (block) => Buffer.from(block))
    return { text: Buffer.concat(blocks).toString(), rows: sumChunks(pieces).rows }
  })
}

test('line breaks in quotes belong to their cell', async () => {
  const lines = ['a,"x\ny"\n', '"\n\n""\n",b\n', 'c\n', '"d\r\n"\n']
  const expected = lines.map((text) => ({ text, rows: 1 }))
  expect(await assign([lines], { maxRows: 1 })).toEqual(expected)
})

test('a chunk is split over as many files as it fills', async () => {
  const texts = await assign([['1\n'], [], ['2\n', '3\n', '4\n', '5\n', '6\n'], ['7\n']], { maxRows: 2 })
  expect(texts.map(({ text }) => text)).toEqual(['1\n2\n', '3\n4\n', '5\n6\n', '7\n'])
})

test('without rows there is one file without pieces', async () => {
  expect(await assign([[]], { maxRows: 3 })).toEqual([{ text: '', rows: 0 }])
  expect(await assignChunks([], { maxRows: 3 })).toEqual([[]])
})

test('a line that is longer than the read buffer is not split', async () => {
  const lines = [`"${'x\n'.repeat(200_000)}"\n`, 'b\n']
  const texts = await assign([lines], { maxRows: 1 })
  expect(texts.map(({ text }) => text.length)).toEqual([400_003, 2])
})

const texts = fc.array(fc.string({ unit: fc.constantFrom(...'a",\n\r\\é😀') }), {
  minLength: 1,
  maxLength: 20,
})

test('files contain exactly the given lines, for any text', async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(20), fc.integer({ min: 1, max: 8 }), async (names, cut, maxRows) => {
      const lines = names.map((name) => textOf([sample({ name })]))
      const files = await assign([lines.slice(0, cut), lines.slice(cut)], { maxRows })
      const expected = Array.from({ length: Math.ceil(lines.length / maxRows) }, (_, at) => {
        const own = lines.slice(at * maxRows, (at + 1) * maxRows)
        return { text: own.join(''), rows: own.length }
      })
      expect(files).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})
