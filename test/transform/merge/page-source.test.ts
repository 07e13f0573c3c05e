import { expect, test } from 'vitest'
import {
  badItemsOfPage,
  includedItems,
  openPageSource,
  type SourceContext,
} from '../../../src/transform/merge/page-source.ts'
import { bodyOf, item } from './pages.ts'

/** The blocks that a source of one page gives. */
function blocksOf(transactions: unknown[], context: Partial<SourceContext> = {}): number[] {
  const place = { wallet: '0xa', offset: 7, bytes: 9, keyRange: null }
  const readPage: SourceContext['readPage'] = (asked) => {
    expect(asked).toBe(place)
    return bodyOf(transactions)
  }
  const range = { from: 0, to: 1_000 }
  const source = openPageSource(place, { readPage, range, cutoffMs: Number.POSITIVE_INFINITY, ...context })
  expect(source).toMatchObject({ keyRange: null })
  return [...source.load()].map(({ key }) => key.block)
}

test('items outside the half-open range are left out', () => {
  const page = [item('4'), item('5'), item('9'), item('10')]
  expect(blocksOf(page, { range: { from: 5, to: 10 } })).toEqual([5, 9])
})

test('a time in whole seconds is younger than a cut within its second', () => {
  const page = [item('1', { seconds: 10 }), item('2', { seconds: 11 })]
  expect(blocksOf(page, { cutoffMs: 11_998 })).toEqual([1])
  expect(blocksOf(page, { cutoffMs: 11_999 })).toEqual([1, 2])
})

test('a time in milliseconds is younger than a cut before it alone', () => {
  const page = [item('1', { seconds: 10, ms: 10_400 })]
  expect(blocksOf(page, { cutoffMs: 10_399 })).toEqual([])
  expect(blocksOf(page, { cutoffMs: 10_400 })).toEqual([1])
})

test('items that were read again since do not count', () => {
  const items = [1, 2, 3].map((block) => ({ wallet: '0xa', key: { block, index: 0, hash: `0x${block}` } }))
  const blocks = includedItems(items, { range: { from: 0, to: 9 }, validBefore: 3 }).map(
    ({ key }) => key.block,
  )
  expect(blocks).toEqual([1, 2])
})

test('a transaction that moved stands where it belongs, and where its listing has it last alone', () => {
  const at = (block: number, hash: string) => ({ wallet: '0xa', key: { block, index: 0, hash } })
  const [before, last, to] = [at(1, '0xm').key, at(4, '0xm').key, at(7, '0xm').key]
  const reorged = new Map([['0xm', { key: to, last: new Map([['0xa', last]]) }]])
  const items = [{ ...at(1, '0xm'), key: before }, at(2, '0x2'), { ...at(4, '0xm'), key: last }, at(9, '0x9')]
  const counted = (range: { from: number; to: number }) =>
    includedItems(items, { range, reorged }).map(({ key }) => `${key.block} ${key.hash}`)
  expect(counted({ from: 0, to: 10 })).toEqual(['2 0x2', '7 0xm', '9 0x9'])
  expect(counted({ from: 0, to: 7 })).toEqual(['2 0x2'])
  expect(counted({ from: 7, to: 8 })).toEqual(['7 0xm'])
})

test('items without a place are told with their reason', () => {
  const body = bodyOf([item('x'), null, {}, item('3')])
  expect(badItemsOfPage({ wallet: '0xa', body })).toEqual([
    { wallet: '0xa', reason: 'blockNumber is not a block number: "x"', item: item('x') },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: null },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: {} },
  ])
})
