import { expect, test } from 'vitest'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'
import {
  badItemsOfPage,
  includedItems,
  openPageSource,
  type SourceContext,
} from '../../../src/transform/merge/page-items.ts'
import { bodyOf, item } from './pages.ts'

/** The blocks of the items of a one-page source. */
function blocksOf(transactions: unknown[], context: Partial<SourceContext> = {}): number[] {
  const location = { wallet: '0xa', offset: 7, bytes: 9, keyRange: null }
  const readPage: SourceContext['readPage'] = (requested) => {
    expect(requested).toBe(location)
    return bodyOf(transactions)
  }
  const range = { from: 0, to: 1_000 }
  const cutoffMs = Number.POSITIVE_INFINITY
  const source = openPageSource(location, { readPage, source: dataApi, range, cutoffMs, ...context })
  expect(source).toMatchObject({ keyRange: null })
  return [...source.load()].map(({ key }) => key.block)
}

test('items outside the half-open range are ignored', () => {
  const page = [item('4'), item('5'), item('9'), item('10')]
  expect(blocksOf(page, { range: { from: 5, to: 10 } })).toEqual([5, 9])
})

test('an item with a time in whole seconds is ignored if the cutoff is within its second', () => {
  const page = [item('1', { seconds: 10 }), item('2', { seconds: 11 })]
  expect(blocksOf(page, { cutoffMs: 11_998 })).toEqual([1])
  expect(blocksOf(page, { cutoffMs: 11_999 })).toEqual([1, 2])
})

test('an item with a time in milliseconds is ignored only if the cutoff is before that time', () => {
  const page = [item('1', { seconds: 10, ms: 10_400 })]
  expect(blocksOf(page, { cutoffMs: 10_399 })).toEqual([])
  expect(blocksOf(page, { cutoffMs: 10_400 })).toEqual([1])
})

test('superseded items are ignored', () => {
  const items = [1, 2, 3].map((block) => ({ wallet: '0xa', key: { block, index: 0, hash: `0x${block}` } }))
  const blocks = includedItems(items, { range: { from: 0, to: 9 }, validBefore: 3 }).map(
    ({ key }) => key.block,
  )
  expect(blocks).toEqual([1, 2])
})

test('a reorged transaction gets its new position, taken only from its latest item in the listing', () => {
  const at = (block: number, hash: string) => ({ wallet: '0xa', key: { block, index: 0, hash } })
  const [before, last, to] = [at(1, '0xm').key, at(4, '0xm').key, at(7, '0xm').key]
  const reorged = new Map([['0xm', { key: to, last: new Map([['0xa', last]]) }]])
  const items = [{ ...at(1, '0xm'), key: before }, at(2, '0x2'), { ...at(4, '0xm'), key: last }, at(9, '0x9')]
  const included = (range: { from: number; to: number }) =>
    includedItems(items, { range, reorged }).map(({ key }) => `${key.block} ${key.hash}`)
  expect(included({ from: 0, to: 10 })).toEqual(['2 0x2', '7 0xm', '9 0x9'])
  expect(included({ from: 0, to: 7 })).toEqual(['2 0x2'])
  expect(included({ from: 7, to: 8 })).toEqual(['7 0xm'])
})

test('items without a valid position are returned with the reason', () => {
  const body = bodyOf([item('x'), null, {}, item('3')])
  expect(badItemsOfPage({ wallet: '0xa', body, source: dataApi })).toEqual([
    { wallet: '0xa', reason: 'blockNumber is not a block number: "x"', item: item('x') },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: null },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: {} },
  ])
})
