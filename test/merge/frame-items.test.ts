import { expect, test } from 'vitest'
import { itemsOfPage } from '../../src/merge/frame-items.ts'
import { bodyOf, item } from './pages.ts'

const read = (transactions: unknown[]) => itemsOfPage({ wallet: '0xa', body: bodyOf(transactions) })

test('items come in chain order whatever the order of the page', () => {
  const items = read([item('7'), item('3', { index: 2 }), item('3', { index: 1 })])
  expect(items.map(({ key }) => [key.block, key.index, key.hash])).toEqual([
    [3, 1, '0xab31'],
    [3, 2, '0xab32'],
    [7, 0, '0xab70'],
  ])
  expect(items.map(({ wallet }) => wallet)).toEqual(['0xa', '0xa', '0xa'])
})

test('items without a place are left out and the rest is kept', () => {
  expect(read([item('x'), null, {}, item('3')]).map(({ key }) => key.block)).toEqual([3])
})
