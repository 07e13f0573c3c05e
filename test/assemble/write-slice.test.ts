import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openWriteTasks } from '../../src/assemble/threads/task.ts'
import {
  createSliceWriter,
  type SliceContext,
  type SliceRows,
  seenIn,
} from '../../src/assemble/write-slice.ts'
import { TABLE_NAMES, type TableName } from '../../src/core/table/index.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, itemAt, type StoredPage, sliceContext, slicesAt, storePages, textOf } from './pages-file.ts'

const END = 12

type Cut = { cuts?: readonly number[]; given?: Partial<SliceContext> }

/** Writes pages in slices; tells what all slices together hold. */
async function write(pages: readonly StoredPage[], { cuts = [], given = {} }: Cut = {}) {
  const folder = mkdtempSync(join(tempFolder(), 'slices-'))
  const slices = slicesAt(cuts, { places: storePages(folder, pages), end: END })
  const written: SliceRows[] = []
  const writer = createSliceWriter(sliceContext(folder, given))
  for (const slice of slices) written.push(writer.write(slice))
  return together(written)
}

function together(written: readonly SliceRows[]) {
  const seen: Record<string, number> = {}
  for (const slice of written)
    for (const [wallet, count] of seenIn(slice, [A, B])) seen[wallet] = (seen[wallet] ?? 0) + count
  return {
    transactions: written.reduce((sum, { transactions }) => sum + transactions, 0),
    seen,
    lines: Object.fromEntries(TABLE_NAMES.map((name) => [name, linesOf(written, name)])),
    rejects: written.flatMap(({ rejects }) => rejects),
  }
}

function linesOf(written: readonly SliceRows[], name: TableName): string {
  const texts = written.map(({ chunks }) => {
    const { rows = 0, bytes = 0 } = chunks.get(name) ?? {}
    const text = textOf(chunks.get(name))
    expect([Buffer.byteLength(text), text.split('\n').length - 1]).toEqual([bytes, rows])
    return text
  })
  return texts.join('')
}

const transaction = fc
  .record({ block: fc.nat(END), index: fc.nat(1), gasUsed: fc.constantFrom('1', '2', 'broken') })
  .map(({ block, ...fields }) => itemAt(block, fields))
const storedPages = fc.array(
  fc.record({
    wallet: fc.constantFrom(A, B),
    transactions: fc.array(fc.oneof({ weight: 9, arbitrary: transaction }, fc.constant(null)), {
      maxLength: 6,
    }),
  }),
  { maxLength: 8 },
)

test('the rows are the same for any cut into slices', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: END - 1 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(storedPages, cuts, async (pages, places) => {
      expect(await write(pages, { cuts: places })).toEqual(await write(pages))
    }),
    { numRuns: 60 },
  )
})

test('a slice counts transactions, and those of each wallet', async () => {
  const { transactions, seen, lines } = await write([
    { wallet: A, transactions: [itemAt(1), itemAt(2), itemAt(3, { value: 'broken' })] },
    { wallet: B, transactions: [itemAt(2)] },
  ])
  expect(transactions).toBe(2)
  expect(seen).toEqual({ [A]: 2, [B]: 1 })
  expect(lines.wallet_transactions?.split('\n')).toHaveLength(4)
})

test('many transactions are all staged, in chain order', async () => {
  const blocks = Array.from({ length: 1_200 }, (_, at) => itemAt(3, { index: at }))
  const { lines } = await write([{ wallet: A, transactions: blocks.reverse() }])
  const indexes = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => Number(line.split(',')[5]))
  expect(indexes).toEqual(Array.from({ length: 1_200 }, (_, at) => at))
})

test('only tables that are wanted are staged', async () => {
  const pages = [{ wallet: A, transactions: [itemAt(1)] }]
  const { lines } = await write(pages, { given: { tables: ['erc20_transfers'] } })
  const full = await write(pages)
  expect(lines.erc20_transfers).toBe(full.lines.erc20_transfers)
  expect(Object.values(lines).filter((text) => text !== '')).toHaveLength(1)
})

test('transactions younger than the cut are left out', async () => {
  const pages = [{ wallet: A, transactions: [itemAt(1), itemAt(2, { blockTimestamp: 1_700_000_001 })] }]
  const { transactions } = await write(pages, { given: { cutMs: 1_700_000_000_999 } })
  expect(transactions).toBe(1)
})

test('a record that cannot be normalized is told with its wallet', async () => {
  const broken = itemAt(2, { value: 'broken' })
  const { rejects } = await write([{ wallet: B, transactions: [itemAt(1), broken] }])
  const told = {
    wallet_address: B,
    list: null,
    record: broken,
    reason: expect.stringMatching(/value is not/),
  }
  expect(rejects.map((line) => JSON.parse(line))).toMatchObject([told])
})

test('pages that are not there fail as output', async () => {
  const folder = tempFolder()
  const places = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const context = sliceContext(folder, { pagesFile: join(folder, 'missing') })
  const slice = { range: { from: 0, to: END }, places }
  await expect(openWriteTasks(context).run({ kind: 'slice', slice })).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
  })
})

test('pages that end too early fail as output', async () => {
  const folder = tempFolder()
  const places = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const longer = places.map((place) => ({ ...place, bytes: place.bytes + 1 }))
  const slice = { range: { from: 0, to: END }, places: longer }
  await expect(openWriteTasks(sliceContext(folder)).run({ kind: 'slice', slice })).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('it ends too early'),
  })
})
