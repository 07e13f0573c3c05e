import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Slice, SliceContext } from '../../src/assemble/write-slice.ts'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import type { SourcePlace } from '../../src/merge/source-place.ts'
import type { Chunk } from '../../src/write/chunk.ts'
import { erc20, type Item, item } from '../flatten/items.ts'

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
export function storePages(folder: string, pages: readonly StoredPage[]): SourcePlace[] {
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
function spanOf(transactions: readonly unknown[]): SourcePlace['span'] {
  const blocks = transactions
    .map((of) => Number((of as Item | null)?.nativeTransaction?.blockNumber))
    .filter((block) => Number.isSafeInteger(block))
  if (blocks.length === 0) return null
  return {
    first: { block: Math.min(...blocks), index: -1, hash: '' },
    last: { block: Math.max(...blocks), index: Number.MAX_SAFE_INTEGER, hash: '' },
  }
}

/** Cuts blocks [0, `end`) where it is said; each slice has the pages that touch it. */
export function slicesAt(cuts: readonly number[], { places, end }: { places: SourcePlace[]; end: number }) {
  const edges = [...new Set([0, ...cuts, end])].sort((a, b) => a - b)
  return edges.slice(1).map((to, at): Slice => {
    const range = { from: edges[at] ?? 0, to }
    const touches = ({ span }: SourcePlace) =>
      span !== null && span.first.block < range.to && span.last.block >= range.from
    return { range, places: places.filter(touches) }
  })
}

export function sliceContext(folder: string, given: Partial<SliceContext> = {}): SliceContext {
  return {
    ...{
      chain: '43114',
      nativeSymbol: 'AVAX',
      addresses: [A, B],
      labels: new Map([[A, 'hot']]),
      ends: new Map(),
      tables: TABLE_NAMES,
    },
    ...{ format: 'csv', compression: 'none', escapeFormulas: true, maxRowsPerFile: 1_000_000 },
    cutMs: Number.POSITIVE_INFINITY,
    folder,
    pagesFile: join(folder, 'pages'),
    runsFile: join(folder, 'runs'),
    ...given,
  }
}

/** The lines of a chunk. */
export function textOf(
  { path, start = 0, rows, bytes }: Chunk = { path: '', rows: 0, bytes: 0, longest: 0 },
): string {
  return rows === 0 ? '' : readFileSync(path).toString('utf8', start, start + bytes)
}
