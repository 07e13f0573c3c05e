import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ManifestFile } from '../../src/core/model/manifest.ts'
import { planCompaction } from '../../src/files/compact.ts'
import { createPartitioner } from '../../src/files/part-path.ts'
import { assignChunks } from '../../src/files/write-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { cutAt } from './write-rows.ts'

test.for([
  { by: 'day', at: '2023-11-14T23:59:59.999Z', folder: 'day=2023-11-14' },
  { by: 'day', at: '2023-11-15T00:00:00.000Z', folder: 'day=2023-11-15' },
  { by: 'month', at: '2024-02-29T12:00:00.000Z', folder: 'month=2024-02' },
  { by: 'blocks:100', at: '2024-02-29T12:00:00.000Z', folder: 'blocks=000000000200-000000000300' },
] as const)('block 299 of $at is in $folder', ({ by, at, folder }) => {
  expect(createPartitioner(by)(299, Date.parse(at))).toBe(folder)
})

/** Computes the expected files line by line. */
function filesByHand(lines: readonly string[], { maxRows, maxBytes }: { maxRows: number; maxBytes: number }) {
  const files = ['']
  let rows = 0
  for (const line of lines) {
    if (rows === maxRows || Buffer.byteLength(files.at(-1) ?? '') >= maxBytes) {
      files.push('')
      rows = 0
    }
    files.push(`${files.pop()}${line}`)
    rows += 1
  }
  return files
}

test('a file ends with the line that reaches the target size, however lines are chunked', async () => {
  const folder = tempFolder()
  const given = fc.record({
    lines: fc.array(fc.string({ unit: fc.constantFrom('a', 'é', ' '), maxLength: 9 }), { maxLength: 20 }),
    cuts: fc.array(fc.nat(20), { maxLength: 4 }),
    maxRows: fc.integer({ min: 1, max: 8 }),
    maxBytes: fc.integer({ min: 1, max: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(given, async ({ lines, cuts, ...bounds }) => {
      const whole = lines.map((line) => `${line}\n`)
      const chunks = cutAt(
        whole,
        cuts.map((cut) => Math.min(cut, whole.length)),
      ).map((part, at) => {
        const path = join(folder, String(at))
        writeFileSync(path, `before${part.join('')}`)
        const bytes = Buffer.byteLength(part.join(''))
        return { path, rows: part.length, bytes, maxLineBytes: 9, start: 6 }
      })
      const files = await assignChunks(chunks, { ...bounds })
      const texts = files.map((pieces) =>
        pieces
          .map(({ path, start = 0, bytes }) => readFileSync(path).subarray(start, start + bytes))
          .join(''),
      )
      expect(texts).toEqual(filesByHand(whole, bounds))
    }),
    { numRuns: 150 },
  )
})

const fileOf = (from: number, to: number, rows: number, number = 0): ManifestFile => {
  const blocks = [from, to].map((block) => String(block).padStart(12, '0')).join('-')
  const path = `ledger/ledger-${blocks}-${String(number).padStart(4, '0')}.csv`
  return { path, rows, bytes: 1, sha256: '', fromBlock: from, toBlock: to }
}

test('a merge uses no file name that is already listed', () => {
  const files = [fileOf(0, 9, 3, 0), fileOf(0, 9, 3, 1)]
  expect(planCompaction(files, { maxRows: 10, lookback: 0 })).toMatchObject([
    { kind: 'merge', firstNumber: 2 },
  ])
})

test('files on different sides of the lookback boundary are not merged', () => {
  const files = [fileOf(0, 9, 1), fileOf(9, 20, 1), fileOf(20, 30, 1), fileOf(30, 40, 1)]
  expect(planCompaction(files, { maxRows: 10, lookback: 20 })).toMatchObject([
    { kind: 'merge', range: { from: 0, to: 20 } },
    { kind: 'merge', range: { from: 20, to: 40 } },
  ])
})

test.for([
  { what: 'one file', files: [fileOf(0, 9, 4)] },
  { what: 'an empty file', files: [fileOf(0, 9, 0)] },
  { what: 'full files and a last one', files: [fileOf(0, 9, 5), fileOf(0, 9, 5, 1), fileOf(0, 9, 2, 2)] },
])('$what is not merged', ({ files }) => {
  const steps = planCompaction(files, { maxRows: 5, lookback: 0 })
  expect(steps.map(({ kind }) => kind)).toEqual(files.map(() => 'keep'))
})
