import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import type { Chunk } from '../../src/files/chunk.ts'
import type { PagePlace } from '../../src/transform/merge/page-source.ts'
import type { StagedPlace } from '../../src/transform/staged/staged-source.ts'
import { openWriteTasks, type WriteContext, type WriteTasks } from '../../src/transform/threads/task.ts'
import type { Slice } from '../../src/transform/write-batch.ts'
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
export function storePages(folder: string, pages: readonly StoredPage[]): PagePlace[] {
  const bodies = pages.map(({ transactions }) => Buffer.from(JSON.stringify({ transactions })))
  writeFileSync(join(folder, 'pages'), Buffer.concat(bodies))
  let end = 0
  return pages.map(({ wallet, transactions }, at) => {
    const bytes = bodies[at]?.length ?? 0
    const place = { wallet, offset: end, bytes, span: spanOf(transactions) }
    end += bytes
    return place
  })
}

/** From border to border of the blocks that a page holds. */
function spanOf(transactions: readonly unknown[]): PagePlace['span'] {
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
function stage(tasks: WriteTasks, places: readonly PagePlace[]): StagedPlace[] {
  return places.flatMap((place) =>
    tasks.run({ kind: 'stage', places: [place] }).map(({ index }) => ({ ...place, index })),
  )
}

/** Writes pages into a folder and has their rows made in it. */
export function stagePages(folder: string, pages: readonly StoredPage[], context = writeContext(folder)) {
  const tasks = openWriteTasks(context)
  const places = stage(tasks, storePages(folder, pages))
  return { tasks, places }
}

/** Cuts blocks [0, `end`) where it is said; each slice has the pages that touch it. */
export function slicesAt(
  cuts: readonly number[],
  { places, end }: { places: readonly StagedPlace[]; end: number },
) {
  const edges = [...new Set([0, ...cuts, end])].sort((a, b) => a - b)
  return edges.slice(1).map((to, at): Slice => {
    const range = { from: edges[at] ?? 0, to }
    const touches = ({ span }: PagePlace) =>
      span !== null && span.first.block < range.to && span.last.block >= range.from
    return { range, places: places.filter(touches) }
  })
}

export function writeContext(folder: string, given: Partial<WriteContext> = {}): WriteContext {
  return {
    ...{
      chain: '43114',
      nativeSymbol: 'AVAX',
      addresses: [A, B],
      labels: new Map([[A, 'hot']]),
      ends: new Map(),
      tables: TABLE_NAMES,
    },
    ...{ format: 'csv', escapeFormulas: true, from: 0, cutMs: Number.POSITIVE_INFINITY },
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
