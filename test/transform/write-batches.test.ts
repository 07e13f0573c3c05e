import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { UNKNOWN_INDEX } from '../../src/core/model/item-key.ts'
import { writeBatches } from '../../src/transform/write-batches.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, batchesAt, itemAt, type StoredPage, stagePages, textOf, writeContext } from './pages-file.ts'

const END = 12
const START = 1_700_000_000
const C = `0x${'c'.repeat(40)}`

/** A record that places transaction `number` in a block. An explorer states its index, in some listings only. */
type Entry = { number: number; block: number; index: number; second: number; list: List }
type List = 'normal' | 'erc20' | 'internal'
type Listed = { wallet: string; entries: readonly Entry[] }
type Api = 'data-api' | 'etherscan'

const hashOf = (number: number) => `0x${String(number).padStart(64, '0')}`

const itemOf: Record<Api, (entry: Entry) => unknown> = {
  'data-api': ({ number, block, index, second }) =>
    itemAt(block, { index, txHash: hashOf(number), blockTimestamp: START + second }),
  etherscan: ({ number, block, index, second, list }) => {
    const position = { hash: hashOf(number), blockNumber: String(block) }
    const transfer = { ...position, timeStamp: String(START + second), from: A, to: B, value: '1' }
    const record = list === 'internal' ? transfer : { ...transfer, transactionIndex: String(index) }
    const lists = { normal: null, internal: [], erc20: [], erc721: [], erc1155: [] }
    return { ...position, ...lists, [list]: list === 'normal' ? record : [{ ...record, contractAddress: C }] }
  },
}

type Row = { block: number; index: number; hash: string; second: number }

/** Writes pages in batches. Resolves with the rows, and the hashes of the rejects. */
async function write(listed: readonly Listed[], api: Api, cuts: readonly number[]) {
  const folder = mkdtempSync(join(tempFolder(), 'batches-'))
  const pages = listed.map(
    ({ wallet, entries }): StoredPage => ({ wallet, transactions: entries.map(itemOf[api]) }),
  )
  const context = writeContext(folder, { api, addresses: [A, B, C] })
  const { tasks, locations } = stagePages(folder, pages, context)
  tasks.run({ kind: 'flush' })
  const batches = await writeBatches(batchesAt(cuts, { pages: locations, end: END }), {
    pages: locations,
    folder,
    floorMs: 0,
    write: async (batch) => tasks.run({ kind: 'batch', batch }),
  })
  tasks.close()
  const lines = batches.flatMap(({ chunks }) => textOf(chunks.get('transactions')).split('\n').slice(0, -1))
  const rows = lines.map((line): Row => {
    const [, block, , time = '', hash = '', index] = line.split(',')
    const second = Date.parse(time) / 1000 - START
    return { block: Number(block), index: index === '' ? UNKNOWN_INDEX : Number(index), hash, second }
  })
  const rejects = batches.flatMap((batch) => batch.rejects.map((line) => JSON.parse(line)))
  return { rows, rejected: rejects.map(({ transaction_hash }) => String(transaction_hash)) }
}

const entry = (times: fc.Arbitrary<number> | undefined) =>
  fc
    .record({
      number: fc.nat(5),
      block: fc.nat(END - 1),
      index: fc.nat(1),
      second: times ?? fc.constant(0),
      list: fc.constantFrom('normal' as const, 'erc20' as const, 'internal' as const),
    })
    .map((given) => (times === undefined ? { ...given, second: given.block } : given))
const pagesOf = (times?: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({ wallet: fc.constantFrom(A, B, C), entries: fc.array(entry(times), { maxLength: 4 }) }),
    {
      maxLength: 6,
    },
  )
const cutsOf = fc.array(fc.integer({ min: 1, max: END - 1 }), { maxLength: 3 })

/** Expects rows in chain order, one of each transaction, and none older than one of an earlier block. */
function expectConsistent(rows: readonly Row[]): void {
  const ordered = rows.toSorted(
    (a, b) => a.block - b.block || a.index - b.index || (a.hash < b.hash ? -1 : 1),
  )
  expect(rows).toEqual(ordered)
  expect(new Set(rows.map(({ hash }) => hash)).size).toBe(rows.length)
  const isBackward = ({ block, second }: Row) =>
    rows.some((earlier) => earlier.block < block && earlier.second > second)
  expect(rows.filter(isBackward)).toEqual([])
}

const hashesIn = (pages: readonly Listed[]) =>
  new Set(pages.flatMap(({ entries }) => entries.map(({ number }) => hashOf(number))))

test.for(['data-api', 'etherscan'] as const)(
  'rows are in order of blocks and times, whatever pages state, and what has no row is rejected: %s',
  async (api) => {
    await fc.assert(
      fc.asyncProperty(pagesOf(fc.nat(END)), cutsOf, async (pages, cuts) => {
        const { rows, rejected } = await write(pages, api, cuts)
        expectConsistent(rows)
        expect(new Set([...rows.map(({ hash }) => hash), ...rejected])).toEqual(hashesIn(pages))
        expect({ rows, rejected }).toEqual(await write(pages, api, []))
      }),
      { numRuns: 150 },
    )
  },
)

test.for(['data-api', 'etherscan'] as const)(
  'nothing is rejected if only positions differ: %s',
  async (api) => {
    await fc.assert(
      fc.asyncProperty(pagesOf(), async (pages) => {
        const { rows, rejected } = await write(pages, api, [4, 8])
        expectConsistent(rows)
        expect(new Set(rows.map(({ hash }) => hash))).toEqual(hashesIn(pages))
        expect(rejected).toEqual([])
      }),
      { numRuns: 50 },
    )
  },
)
