import { expect, test } from 'vitest'
import { badItemsOfPage, openSource, type SourceContext } from '../../src/merge/source-place.ts'
import { bodyOf, item } from './pages.ts'

/** The blocks that a source of one page gives. */
function blocksOf(transactions: unknown[], context: Partial<SourceContext> = {}): number[] {
  const place = { wallet: '0xa', offset: 7, bytes: 9, span: null }
  const read: SourceContext['read'] = (asked) => {
    expect(asked).toBe(place)
    return bodyOf(transactions)
  }
  const range = { from: 0, to: 1_000 }
  const source = openSource(place, { read, range, cutMs: Number.POSITIVE_INFINITY, ...context })
  expect(source).toMatchObject({ bytes: 9, span: null })
  return [...source.load()].map(({ key }) => key.block)
}

test('items outside the half-open range are left out', () => {
  const page = [item('4'), item('5'), item('9'), item('10')]
  expect(blocksOf(page, { range: { from: 5, to: 10 } })).toEqual([5, 9])
})

test('a time in whole seconds is younger than a cut within its second', () => {
  const page = [item('1', { seconds: 10 }), item('2', { seconds: 11 })]
  expect(blocksOf(page, { cutMs: 11_998 })).toEqual([1])
  expect(blocksOf(page, { cutMs: 11_999 })).toEqual([1, 2])
})

test('a time in milliseconds is younger than a cut before it alone', () => {
  const page = [item('1', { seconds: 10, ms: 10_400 })]
  expect(blocksOf(page, { cutMs: 10_399 })).toEqual([])
  expect(blocksOf(page, { cutMs: 10_400 })).toEqual([1])
})

test('items of a sorted run keep wallet and place of receipt', () => {
  const times = { timeMs: 1, lastMs: 1, second: 0 }
  const run = [
    { received: 4, wallet: '0xb', key: { block: 3, index: 0, hash: '0x3', ...times }, item: { n: 1 } },
    { received: 2, wallet: '0xa', key: { block: 8, index: 0, hash: '0x8', ...times }, item: { n: 2 } },
  ]
  const read = () => Buffer.from(run.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const place = { wallet: null, offset: 0, bytes: 1, span: null }
  const source = openSource(place, { read, range: { from: 0, to: 8 }, cutMs: 1 })
  expect([...source.load()]).toEqual(run.slice(0, 1))
})

test('items without a place are told with their reason', () => {
  const body = bodyOf([item('x'), null, {}, item('3')])
  expect(badItemsOfPage({ wallet: '0xa', body })).toEqual([
    { wallet: '0xa', reason: 'blockNumber is not a block number: "x"', item: item('x') },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: null },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: {} },
  ])
})
