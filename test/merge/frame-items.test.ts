import { expect, test } from 'vitest'
import { type BadItem, itemsOfPage } from '../../src/merge/frame-items.ts'

const item = (block: unknown, { index = 0, seconds = 10 } = {}) => ({
  nativeTransaction: {
    blockNumber: block,
    blockIndex: index,
    txHash: `0xAB${block}${index}`,
    blockTimestamp: seconds,
  },
})

function read(transactions: unknown[], { from = 0, to = 1_000, cutMs = Number.POSITIVE_INFINITY } = {}) {
  const bad: BadItem[] = []
  const body = Buffer.from(JSON.stringify({ transactions }))
  const onBadItem = (of: BadItem) => bad.push(of)
  return { items: itemsOfPage({ wallet: '0xa', body, range: { from, to }, cutMs, onBadItem }), bad }
}

test('items come in chain order whatever the order of the page', () => {
  const { items } = read([item('7'), item('3', { index: 2 }), item('3', { index: 1 })])
  expect(items.map(({ key }) => [key.block, key.index, key.hash])).toEqual([
    [3, 1, '0xab31'],
    [3, 2, '0xab32'],
    [7, 0, '0xab70'],
  ])
})

test('items outside the half-open range are left out', () => {
  const { items, bad } = read([item('4'), item('5'), item('9'), item('10')], { from: 5, to: 10 })
  expect(items.map(({ key }) => key.block)).toEqual([5, 9])
  expect(bad).toEqual([])
})

test('items younger than the cut are left out', () => {
  const { items } = read([item('1', { seconds: 10 }), item('2', { seconds: 11 })], { cutMs: 10_000 })
  expect(items.map(({ key }) => key.block)).toEqual([1])
})

test('items without a place are told and the rest is kept', () => {
  const { items, bad } = read([item('x'), null, {}, item('3')])
  expect(items).toHaveLength(1)
  expect(bad).toEqual([
    { wallet: '0xa', reason: 'blockNumber is not a block number: "x"', item: item('x') },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: null },
    { wallet: '0xa', reason: 'nativeTransaction is missing', item: {} },
  ])
})
