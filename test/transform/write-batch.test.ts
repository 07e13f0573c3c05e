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
  batchesAt,
  itemAt,
  type StoredPage,
  stagePages,
  storePages,
  textOf,
  writeContext,
} from './pages-file.ts'

const END = 12

type Cut = { cuts?: readonly number[]; given?: Partial<WriteContext> }

/** Writes pages in batches. Resolves with the contents of all batches together. */
async function write(pages: readonly StoredPage[], { cuts = [], given = {} }: Cut = {}) {
  const folder = mkdtempSync(join(tempFolder(), 'batches-'))
  const { tasks, locations } = stagePages(folder, pages, writeContext(folder, given))
  tasks.run({ kind: 'flush' })
  const written = batchesAt(cuts, { pages: locations, end: END }).map((batch) =>
    tasks.run({ kind: 'batch', batch }),
  )
  tasks.close()
  return combined(written)
}

function combined(written: readonly BatchRows[]) {
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

test('the rows are the same however blocks are divided into batches', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: END - 1 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(storedPages, cuts, async (pages, atBlocks) => {
      expect(await write(pages, { cuts: atBlocks })).toEqual(await write(pages))
    }),
    { numRuns: 60 },
  )
})

test('a batch counts all transactions and those of each wallet', async () => {
  const { transactions, seen, lines } = await write([
    { wallet: A, transactions: [itemAt(1), itemAt(2), itemAt(3, { value: 'broken' })] },
    { wallet: B, transactions: [itemAt(2)] },
  ])
  expect(transactions).toBe(2)
  expect(seen).toEqual({ [A]: 2, [B]: 1 })
  expect(lines.wallet_transactions?.split('\n')).toHaveLength(4)
})

test('many transactions are written in chain order', async () => {
  const blocks = Array.from({ length: 1_200 }, (_, at) => itemAt(3, { index: at }))
  const { lines } = await write([{ wallet: A, transactions: blocks.reverse() }])
  const indexes = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => Number(line.split(',')[5]))
  expect(indexes).toEqual(Array.from({ length: 1_200 }, (_, at) => at))
})

test('only requested tables are staged', async () => {
  const pages = [{ wallet: A, transactions: [itemAt(1)] }]
  const { lines } = await write(pages, { given: { tables: ['erc20_transfers'] } })
  const full = await write(pages)
  expect(lines.erc20_transfers).toBe(full.lines.erc20_transfers)
  expect(Object.values(lines).filter((text) => text !== '')).toHaveLength(1)
})

test('transactions newer than the cutoff are ignored', async () => {
  const pages = [{ wallet: A, transactions: [itemAt(1), itemAt(2, { blockTimestamp: 1_700_000_001 })] }]
  const { transactions } = await write(pages, { given: { cutoffMs: 1_700_000_000_999 } })
  expect(transactions).toBe(1)
})

test('a record that cannot be normalized is reported with its wallet', async () => {
  const broken = itemAt(2, { value: 'broken' })
  const { rejects } = await write([{ wallet: B, transactions: [itemAt(1), broken] }])
  const expected = {
    wallet_address: B,
    list: null,
    record: broken,
    reason: expect.stringMatching(/value is not/),
  }
  expect(rejects.map((line) => JSON.parse(line))).toMatchObject([expected])
})

test('missing pages fail with OUTPUT_FAILED', () => {
  const folder = tempFolder()
  const pages = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const tasks = openTaskRunner(writeContext(folder, { pagesFile: join(folder, 'missing') }))
  expect(() => tasks.run({ kind: 'stage', pages })).toThrow(
    expect.objectContaining({ code: 'OUTPUT_FAILED' }),
  )
})

test('truncated pages fail with OUTPUT_FAILED', () => {
  const folder = tempFolder()
  const stored = storePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  const pages = stored.map((page) => ({ ...page, bytes: page.bytes + 1 }))
  expect(() => openTaskRunner(writeContext(folder)).run({ kind: 'stage', pages })).toThrow(
    expect.objectContaining({
      code: 'OUTPUT_FAILED',
      message: expect.stringContaining('unexpected end of file'),
    }),
  )
})

test('missing staging files fail with OUTPUT_FAILED', () => {
  const folder = tempFolder()
  const { tasks, locations: pages } = stagePages(folder, [{ wallet: A, transactions: [itemAt(1)] }])
  tasks.close()
  rmSync(join(folder, 'ledger-0.lines'))
  rmSync(join(folder, 'indexes-0.lines'))
  const batch = { range: { from: 0, to: END }, pages }
  expect(() => tasks.run({ kind: 'batch', batch })).toThrow(
    expect.objectContaining({ code: 'OUTPUT_FAILED' }),
  )
})

/** A transaction whose receiver has a name of `bytes` bytes. */
const longItem = (block: number, bytes: number) =>
  itemAt(block, { to: { address: A, name: 'n'.repeat(bytes) } })

test('long line ranges of a page are referenced in place, short ones are copied together', () => {
  const folder = tempFolder()
  const pages = [
    { wallet: A, transactions: [1, 2, 3].map((block) => longItem(block, 8_000)) },
    { wallet: A, transactions: [4, 5].map((block) => longItem(block, 10)) },
    { wallet: A, transactions: [6, 7].map((block) => longItem(block, 10)) },
  ]
  const { tasks, locations } = stagePages(folder, pages)
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages: locations } })
  const [inPlace, copied, ...others] = chunks.get('transactions') ?? []
  expect(others).toEqual([])
  expect(inPlace).toMatchObject({ start: 0, rows: 3 })
  expect(copied).toMatchObject({ rows: 4 })
  expect(copied?.start).toBeGreaterThan(inPlace?.bytes ?? 0)
})

test('a transaction of several wallets is united from the pages of all of them', async () => {
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

test('many overlapping pages are merged in chain order', async () => {
  const wallets = Array.from({ length: 60 }, (_, at) => `0x${at.toString(16).padStart(40, '0')}`)
  const pages = wallets.map((wallet, at) => ({
    wallet,
    transactions: [1, 5, 9].map((block) => itemAt(block, { index: at })),
  }))
  const { lines, transactions } = await write(pages, { given: { addresses: wallets } })
  expect(transactions).toBe(180)
  const positions = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => line.split(','))
    .map((cells) => Number(cells[1]) * 100 + Number(cells[5]))
  expect(positions).toEqual([1, 5, 9].flatMap((block) => wallets.map((_, at) => block * 100 + at)))
})

test('rows of a page are divided into partitions', async () => {
  const folder = tempFolder()
  const context = writeContext(folder, { partitionBy: 'blocks:4' })
  const { tasks, locations: pages } = stagePages(
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

test('if a page lists a transaction twice, the last item wins', async () => {
  const { lines } = await write([
    { wallet: A, transactions: [itemAt(1), itemAt(2, { value: '7' }), itemAt(2, { value: '8' }), itemAt(3)] },
  ])
  const values = lines.transactions
    ?.trimEnd()
    .split('\n')
    .map((line) => line.split(',')[14])
  expect(values).toEqual(['1', '8', '3'])
})

test('lines that are built again are flushed before the batch ends', () => {
  const folder = tempFolder()
  const transactions = [1, 2, 3, 4].map((block) => longItem(block, 200_000))
  const { tasks, locations: pages } = stagePages(folder, [
    { wallet: A, transactions },
    { wallet: B, transactions },
  ])
  tasks.run({ kind: 'flush' })
  const { chunks } = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages } })
  expect((chunks.get('transactions') ?? []).map(({ rows }) => rows)).toEqual([2, 2])
})

test('transactions of several wallets are united even if the page has two `transactions` keys', async () => {
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
  const locations = plain.map((location, at) => ({
    ...location,
    offset: at * (bodies[0]?.length ?? 0),
    bytes: bodies[at]?.length ?? 0,
  }))
  const tasks = openTaskRunner(writeContext(folder))
  const staged = tasks.run({ kind: 'stage', pages: locations })
  tasks.run({ kind: 'flush' })
  const all = locations.map((location, at) => ({
    ...location,
    index: staged[at]?.index ?? { thread: 0, offset: 0, bytes: 0 },
  }))
  const rows = tasks.run({ kind: 'batch', batch: { range: { from: 0, to: END }, pages: all } })
  expect(combined([rows])).toEqual(await write(pages))
})

test('short line ranges before and after a long one keep their order', () => {
  const folder = tempFolder()
  const { tasks, locations: pages } = stagePages(folder, [
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

test('rows of blocks that are already exported are not staged', () => {
  const folder = tempFolder()
  const pages = storePages(folder, [{ wallet: A, transactions: [1, 2, 3].map((block) => itemAt(block)) }])
  const [page] = openTaskRunner(writeContext(folder, { from: 2 })).run({ kind: 'stage', pages })
  expect(page).toMatchObject({ transactions: 2, rows: { transactions: 2 } })
})
