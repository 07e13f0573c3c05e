import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TABLE_NAMES, type TableName } from '../../src/core/table/index.ts'
import { sumChunks } from '../../src/files/chunk.ts'
import { openTaskRunner, type WriteContext } from '../../src/transform/threads/task.ts'
import { type BatchRows, seenIn } from '../../src/transform/write-batch.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { erc20 } from './items.ts'
import {
  A,
  B,
  itemAt,
  type StoredPage,
  slicesAt,
  stagePages,
  storePages,
  textOf,
  writeContext,
} from './pages-file.ts'

const END = 12

type Cut = { cuts?: readonly number[]; given?: Partial<WriteContext> }

/** Writes pages in slices; tells what all slices together hold. */
async function write(pages: readonly StoredPage[], { cuts = [], given = {} }: Cut = {}) {
  const folder = mkdtempSync(join(tempFolder(), 'slices-'))
  const { tasks, places } = stagePages(folder, pages, writeContext(folder, given))
  tasks.run({ kind: 'flush' })
  const written = slicesAt(cuts, { pages: places, end: END }).map((batch) =>
    tasks.run({ kind: 'batch', batch }),
  )
  tasks.close()
  return together(written)
}

function together(written: readonly BatchRows[]) {
  const seen: Record<string, number> = {}
  for (const batch of written)
    for (const [wallet, count] of seenIn(batch, [A, B])) seen[wallet] = (seen[wallet] ?? 0) + count
  return {
    transactions: written.reduce((sum, { transactions }) => sum + transactions, 0),
    seen,
    lines: Object.fromEntries(TABLE_NAMES.map((name) => [name, linesOf(written, name)])),
    rejects: written.flatMap(({ rejects }) => rejects),
  }
}

function linesOf(written: readonly BatchRows[], name: TableName): string {
  const texts = written.map(({ chunks }) => {
    const { rows, bytes } = sumChunks(chunks.get(name) ?? [])
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
  const { transactions } = await write(pages, { given: { cutoffMs: 1_700_000_000_999 } })
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

test('pages that are not there fail as output', () => {
  const folder = tempFolder()
  const pages = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const tasks = openTaskRunner(writeContext(folder, { pagesFile: join(folder, 'missing') }))
  expect(() => tasks.run({ kind: 'stage', pages })).toThrow(
    expect.objectContaining({ code: 'OUTPUT_FAILED' }),
  )
})

test('pages that end too early fail as output', () => {
  const folder = tempFolder()
  const stored = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const pages = stored.map((place) => ({ ...place, bytes: place.bytes + 1 }))
  expect(() => openTaskRunner(writeContext(folder)).run({ kind: 'stage', pages })).toThrow(
    expect.objectContaining({
      code: 'OUTPUT_FAILED',
      message: expect.stringContaining('it ends too early'),
    }),
  )
})

test('staged lines that are gone fail as output', () => {
  const folder = tempFolder()
  const { tasks, places: pages } = stagePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  tasks.close()
  rmSync(join(folder, 'ledger-0.lines'))
  rmSync(join(folder, 'indexes-0.lines'))
  const batch = { range: { from: 0, to: END }, pages }
  expect(() => tasks.run({ kind: 'batch', batch })).toThrow(
    expect.objectContaining({ code: 'OUTPUT_FAILED' }),
  )
})

/** A transaction whose transfer of so many bytes of name is seen by its wallet. */
const longItem = (block: number, bytes: number) =>
  itemAt(block, { to: { address: A, name: 'n'.repeat(bytes) } })

test('long stretches of a page stay where they were staged, short ones are copied together', () => {
  const folder = tempFolder()
  const pages = [
    { wallet: A, transactions: [1, 2, 3].map((block) => longItem(block, 8_000)) },
    { wallet: A, transactions: [4, 5].map((block) => longItem(block, 10)) },
    { wallet: A, transactions: [6, 7].map((block) => longItem(block, 10)) },
  ]
  const { tasks, places } = stagePages(folder, pages)
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages: places } })
  const [stays, copied, ...others] = chunks.get('transactions') ?? []
  expect(others).toEqual([])
  expect(stays).toMatchObject({ start: 0, rows: 3 })
  expect(copied).toMatchObject({ rows: 4 })
  expect(copied?.start).toBeGreaterThan(stays?.bytes ?? 0)
})

test('a transaction that several wallets see is read from the pages of all of them', async () => {
  const log = (logIndex: number) => ({ ...erc20(), logIndex })
  const seenAs = (logs: readonly number[]) => ({ ...itemAt(5), erc20Transfers: logs.map(log) })
  const pages = [
    { wallet: A, transactions: [itemAt(4), null, seenAs([1, 3]), itemAt(6)] },
    { wallet: B, transactions: [seenAs([2]), 'x', itemAt(7)] },
  ]
  const { lines, transactions } = await write(pages)
  const logs = lines.erc20_transfers?.trimEnd().split('\n')
  expect(logs?.filter((line) => line.startsWith('43114,5,')).map((line) => line.split(',')[6])).toEqual([
    '1',
    '2',
    '3',
  ])
  expect(transactions).toBe(4)
})

test('pages that are opened together are read ahead little by little, and give the same', async () => {
  const wallets = Array.from({ length: 60 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
  const pages = wallets.map((wallet, at) => ({
    wallet,
    transactions: [1, 5, 9].map((block) => itemAt(block, { index: at })),
  }))
  const { lines, transactions } = await write(pages, { given: { addresses: wallets } })
  expect(transactions).toBe(180)
  const places = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => line.split(','))
    .map((cells) => Number(cells[1]) * 100 + Number(cells[5]))
  expect(places).toEqual([1, 5, 9].flatMap((block) => wallets.map((_, at) => block * 100 + at)))
})

test('rows of a page follow each other in the folders of their partitions', async () => {
  const folder = tempFolder()
  const context = writeContext(folder, { partitionBy: 'blocks:4' })
  const { tasks, places: pages } = stagePages(
    folder,
    [
      { wallet: A, transactions: [1, 3, 4, 9].map((block) => itemAt(block)) },
      { wallet: B, transactions: [3, 5].map((block) => itemAt(block)) },
    ],
    context,
  )
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages } })
  const rows = (chunks.get('transactions') ?? []).map((chunk) => [chunk.partition, chunk.rows])
  expect(rows).toEqual([
    ['blocks=000000000000-000000000004', 2],
    ['blocks=000000000004-000000000008', 2],
    ['blocks=000000000008-000000000012', 1],
  ])
})

test('a page that lists a transaction twice gives it once, as it is listed last', async () => {
  const { lines } = await write([
    { wallet: A, transactions: [itemAt(1), itemAt(2, { value: '7' }), itemAt(2, { value: '8' }), itemAt(3)] },
  ])
  const values = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => line.split(',')[14])
  expect(values).toEqual(['1', '8', '3'])
})

test('lines that are made anew do not wait until the slice ends', () => {
  const folder = tempFolder()
  const transactions = [1, 2, 3, 4].map((block) => longItem(block, 200_000))
  const { tasks, places: pages } = stagePages(folder, [
    { wallet: A, transactions },
    { wallet: B, transactions },
  ])
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages } })
  expect((chunks.get('transactions') ?? []).map(({ rows }) => rows)).toEqual([2, 2])
})

test('a page whose list takes a parser to find is read whole for what several wallets see', async () => {
  const folder = tempFolder()
  const pages = [
    { wallet: A, transactions: [itemAt(1), itemAt(2)] },
    { wallet: B, transactions: [itemAt(2), itemAt(3)] },
  ]
  const plain = storePages(folder, pages)
  const bodies = pages.map(({ transactions }) =>
    Buffer.from(`{"transactions":[null],"transactions":${JSON.stringify(transactions)}}`),
  )
  writeFileSync(join(folder, 'pages'), Buffer.concat(bodies))
  const places = plain.map((place, at) => ({
    ...place,
    ...{ offset: at * (bodies[0]?.length ?? 0), bytes: bodies[at]?.length ?? 0 },
  }))
  const tasks = openTaskRunner(writeContext(folder))
  const staged = tasks.run({ kind: 'stage', pages: places })
  tasks.run({ kind: 'flush' })
  const all = places.map((place, at) => ({
    ...place,
    index: staged[at]?.index ?? { thread: 0, offset: 0, bytes: 0 },
  }))
  const rows = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages: all } })
  expect(together([rows])).toEqual(await write(pages))
})

test('short stretches before and after a long one keep their places', () => {
  const folder = tempFolder()
  const { tasks, places: pages } = stagePages(folder, [
    { wallet: A, transactions: [1, 2].map((block) => longItem(block, 10)) },
    { wallet: A, transactions: [3, 4, 5].map((block) => longItem(block, 8_000)) },
    { wallet: A, transactions: [6].map((block) => longItem(block, 10)) },
  ])
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages } })
  expect(chunks.get('transactions')).toHaveLength(3)
  const blocks = textOf(chunks.get('transactions'))
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split(',')[1]))
  expect(blocks).toEqual([1, 2, 3, 4, 5, 6])
})

test('rows of blocks that were written before are not made', () => {
  const folder = tempFolder()
  const pages = storePages(folder, [{ wallet: A, transactions: [1, 2, 3].map((block) => itemAt(block)) }])
  const [page] = openTaskRunner(writeContext(folder, { from: 2 })).run({ kind: 'stage', pages })
  expect(page).toMatchObject({ transactions: 2, rows: { transactions: 2 } })
})
