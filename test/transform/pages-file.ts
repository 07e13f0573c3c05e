import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import type { Chunk } from '../../src/files/chunk.ts'
import type { PageLocation } from '../../src/transform/merge/page-source.ts'
import type { StagedPageLocation } from '../../src/transform/staged/staged-source.ts'
import { openTaskRunner, type TaskRunner, type WriteContext } from '../../src/transform/threads/task.ts'
import type { BlockRangeBatch } from '../../src/transform/write-batch.ts'
import { erc20, type Item, item } from './items.ts'

export const A = `0x${'a'.repeat(40)}`
export const B = `0x${'b'.repeat(40)}`

/** One wallet's page as a checkpoint holds it. */
export type StoredPage = { wallet: string; transactions: readonly unknown[] }

/** A transaction of the given block with one token transfer; `changes` replace fields. */
export function itemAt(block: number, { index = 0, ...changes }: Record<string, unknown> = {}): Item {
  const txHash = `0x${block.toString(16).padStart(32, '0')}${Number(index).toString(16).padStart(32, '0')}`
  const fields = { blockNumber: String(block), blockIndex: index, txHash, value: String(block) }
  return item({ ...fields, ...changes }, { erc20Transfers: [erc20()] })
}

/** Writes pages one after the other as `pages` in the folder; resolves with their places, in that order. */
export function storePages(folder: string, pages: readonly StoredPage[]): PageLocation[] {
  const bodies = pages.map(({ transactions }) => Buffer.from(JSON.stringify({ transactions })))
  writeFileSync(join(folder, 'pages'), Buffer.concat(bodies))
  let end = 0
  return pages.map(({ wallet, transactions }, at) => {
    const bytes = bodies[at]?.length ?? 0
    const location = { wallet, offset: end, bytes, keyRange: spanOf(transactions) }
    end += bytes
    return location
  })
}

/** From border to border of the blocks that a page holds. */
function spanOf(transactions: readonly unknown[]): PageLocation['keyRange'] {
  const blocks = transactions
    .map((of) => Number((of as Item | null)?.nativeTransaction?.blockNumber))
    .filter((block) => Number.isSafeInteger(block))
  if (blocks.length === 0) return null
  return {
    first: { block: Math.min(...blocks), index: -1, hash: '' },
    last: { block: Math.max(...blocks), index: Number.MAX_SAFE_INTEGER, hash: '' },
  }
}

/** Has the rows made of pages, each in a task of its own. */
function stage(tasks: TaskRunner, places: readonly PageLocation[]): StagedPageLocation[] {
  return places.flatMap((location) =>
    tasks.run({ kind: 'stage', pages: [location] }).map(({ index }) => ({ ...location, index })),
  )
}

/** Writes pages into a folder and has their rows made in it. */
export function stagePages(folder: string, pages: readonly StoredPage[], context = writeContext(folder)) {
  const tasks = openTaskRunner(context)
  const places = stage(tasks, storePages(folder, pages))
  return { tasks, places }
}

/** Cuts blocks [0, `end`) where it is said; each slice has the pages that touch it. */
export function slicesAt(
  cuts: readonly number[],
  { pages, end }: { pages: readonly StagedPageLocation[]; end: number },
) {
  const edges = [...new Set([0, ...cuts, end])].sort((a, b) => a - b)
  return edges.slice(1).map((to, at): BlockRangeBatch => {
    const range = { from: edges[at] ?? 0, to }
    const touches = ({ keyRange }: PageLocation) =>
      keyRange !== null && keyRange.first.block < range.to && keyRange.last.block >= range.from
    return { range, pages: pages.filter(touches) }
  })
}

export function writeContext(folder: string, given: Partial<WriteContext> = {}): WriteContext {
  return {
    ...{
      chain: '43114',
      nativeSymbol: 'AVAX',
      addresses: [A, B],
      labels: new Map([[A, 'hot']]),
      endBlocks: new Map(),
      tables: TABLE_NAMES,
    },
    ...{ format: 'csv', escapeFormulas: true, from: 0, cutoffMs: Number.POSITIVE_INFINITY },
    folder,
    pagesFile: join(folder, 'pages'),
    ...given,
  }
}

/** The lines of chunks. */
export function textOf(chunks: readonly Chunk[] = []): string {
  return chunks
    .map(({ path, start = 0, bytes }) => readFileSync(path).toString('utf8', start, start + bytes))
    .join('')
}
