import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import type { Chunk } from '../../src/files/chunk.ts'
import type { PageLocation } from '../../src/transform/merge/page-items.ts'
import type { StagedPageLocation } from '../../src/transform/staged/read-staged.ts'
import { openTaskRunner, type TaskRunner, type WriteContext } from '../../src/transform/threads/task.ts'
import type { BlockRangeBatch } from '../../src/transform/write-batch.ts'
import { erc20, type Item, item } from './items.ts'

export const A = `0x${'a'.repeat(40)}`
export const B = `0x${'b'.repeat(40)}`

/** One wallet's page as stored in a checkpoint. */
export type StoredPage = { wallet: string; transactions: readonly unknown[] }

/** A transaction in the given block with one token transfer. `changes` replace fields. */
export function itemAt(block: number, { index = 0, ...changes }: Record<string, unknown> = {}): Item {
  const txHash = `0x${block.toString(16).padStart(32, '0')}${Number(index).toString(16).padStart(32, '0')}`
  const fields = { blockNumber: String(block), blockIndex: index, txHash, value: String(block) }
  return item({ ...fields, ...changes }, { erc20Transfers: [erc20()] })
}

/** Appends pages to the file `pages` in the folder and returns their locations, in the same order. */
export function storePages(
  folder: string,
  pages: readonly StoredPage[],
  list = 'transactions',
): PageLocation[] {
  const bodies = pages.map(({ transactions }) => Buffer.from(JSON.stringify({ [list]: transactions })))
  writeFileSync(join(folder, 'pages'), Buffer.concat(bodies))
  let end = 0
  return pages.map(({ wallet, transactions }, at) => {
    const bytes = bodies[at]?.length ?? 0
    const location = { wallet, offset: end, bytes, keyRange: keyRangeOf(transactions) }
    end += bytes
    return location
  })
}

/** The key range of all blocks from the lowest to the highest block of a page. */
function keyRangeOf(transactions: readonly unknown[]): PageLocation['keyRange'] {
  const blocks = transactions
    .map((of) => of as (Partial<Item> & { blockNumber?: string }) | null)
    .map((of) => Number(of?.nativeTransaction?.blockNumber ?? of?.blockNumber))
    .filter((block) => Number.isSafeInteger(block))
  if (blocks.length === 0) return null
  return {
    first: { block: Math.min(...blocks), index: -1, hash: '' },
    last: { block: Math.max(...blocks), index: Number.MAX_SAFE_INTEGER, hash: '' },
  }
}

/** Stages pages, each in its own task. */
function stage(tasks: TaskRunner, locations: readonly PageLocation[]): StagedPageLocation[] {
  return locations.flatMap((location) =>
    tasks.run({ kind: 'stage', pages: [location] }).map(({ index }) => ({ ...location, index })),
  )
}

/** Stores pages in a folder and stages their rows there. */
export function stagePages(folder: string, pages: readonly StoredPage[], context = writeContext(folder)) {
  const tasks = openTaskRunner(context)
  const list = context.api === 'data-api' ? 'transactions' : 'items'
  const locations = stage(tasks, storePages(folder, pages, list))
  return { tasks, locations }
}

/** Cuts the blocks [0, `end`) at `cuts` into batches. Each batch has the pages that overlap it. */
export function batchesAt(
  cuts: readonly number[],
  { pages, end }: { pages: readonly StagedPageLocation[]; end: number },
) {
  const edges = [...new Set([0, ...cuts, end])].sort((a, b) => a - b)
  return edges.slice(1).map((to, at): BlockRangeBatch => {
    const range = { from: edges[at] ?? 0, to }
    const overlaps = ({ keyRange }: PageLocation) =>
      keyRange !== null && keyRange.first.block < range.to && keyRange.last.block >= range.from
    return { range, pages: pages.filter(overlaps) }
  })
}

export function writeContext(folder: string, given: Partial<WriteContext> = {}): WriteContext {
  return {
    api: 'data-api',
    chain: '43114',
    nativeSymbol: 'AVAX',
    wraps: 'ledger',
    wrappedCoins: [],
    addresses: [A, B],
    labels: new Map([[A, 'hot']]),
    endBlocks: new Map(),
    tables: TABLE_NAMES,
    fees: { from: 'listing' },
    format: 'csv',
    escapeFormulas: true,
    from: 0,
    cutoffMs: Number.POSITIVE_INFINITY,
    folder,
    pagesFile: join(folder, 'pages'),
    ...given,
  }
}

/** Reads the lines of chunks. */
export function textOf(chunks: readonly Chunk[] = []): string {
  return chunks
    .map(({ path, start = 0, bytes }) => readFileSync(path).toString('utf8', start, start + bytes))
    .join('')
}
