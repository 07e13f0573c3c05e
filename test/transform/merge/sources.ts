import fc from 'fast-check'
import { mergeItems } from '../../../src/transform/merge/merge-items.ts'
import { type ItemSource, sortItems, type WalletItem } from '../../../src/transform/merge/page-items.ts'

export function walletItem(wallet: string, { block = 1, index = 0, mark = 0 } = {}): WalletItem {
  const times = { timeMs: block, lastMs: block, second: 0 }
  return {
    wallet,
    key: { block, index, hash: `0x${block}-${index}`, ...times },
    item: { mark },
    listIndex: 0,
  }
}

/**
 * A page's source. Its key range covers complete blocks, because a checkpoint knows only the blocks of a
 * page.
 */
export function sourceOf(items: WalletItem[]): ItemSource {
  const blocks = items.map(({ key }) => key.block)
  const first = { block: Math.min(...blocks), index: -1, hash: '' }
  const last = { block: Math.max(...blocks), index: Number.MAX_SAFE_INTEGER, hash: '' }
  return {
    keyRange: items.length === 0 ? null : { first, last },
    load: () => sortItems([...items]),
  }
}

/** The result of a merge as lines `block.index wallet=mark wallet=mark`. */
export function merged(sources: readonly ItemSource[]): string[] {
  const lines: string[] = []
  for (const views of mergeItems(sources)) {
    const [{ key }] = views
    const marks = views.map(({ wallet, item }) => `${wallet}=${(item as { mark: number }).mark}`)
    lines.push([`${key.block}.${key.index}`, ...marks].join(' '))
  }
  return lines
}

/** The expected result of a merge: the last received item of each wallet and transaction, sorted. */
export function sortedLines(pages: WalletItem[][]): string[] {
  const last = new Map<string, WalletItem>()
  for (const item of pages.flat()) last.set(`${item.key.block}.${item.key.index} ${item.wallet}`, item)
  const items = [...last.values()].sort(
    (a, b) => a.key.block - b.key.block || a.key.index - b.key.index || (a.wallet < b.wallet ? -1 : 1),
  )
  const lines = new Map<string, string>()
  for (const { key, wallet, item } of items) {
    const position = `${key.block}.${key.index}`
    lines.set(position, `${lines.get(position) ?? position} ${wallet}=${(item as { mark: number }).mark}`)
  }
  return [...lines.values()]
}

/** Arbitrary pages of single wallets: overlapping, with repeated items, or empty. */
export const pages = fc.array(
  fc
    .record({
      wallet: fc.constantFrom('0xa', '0xb', '0xc'),
      positions: fc.uniqueArray(fc.record({ block: fc.nat(12), index: fc.nat(2) }), {
        maxLength: 6,
        selector: ({ block, index }) => block * 10 + index,
      }),
      mark: fc.nat(1_000_000),
    })
    .map(({ wallet, positions, mark }) => positions.map((at) => walletItem(wallet, { ...at, mark }))),
  { maxLength: 12 },
)
