import { expect, test } from 'vitest'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'
import { itemsOfPage } from '../../../src/transform/merge/page-items.ts'
import { bodyOf, item } from './pages.ts'

const read = (transactions: unknown[]) =>
  itemsOfPage({ wallet: '0xa', body: bodyOf(transactions), source: dataApi }).items

test('items are sorted in chain order regardless of the order of the page', () => {
  const items = read([item('7'), item('3', { index: 2 }), item('3', { index: 1 })])
  expect(items.map(({ key }) => [key.block, key.index, key.hash])).toEqual([
    [3, 1, '0xab31'],
    [3, 2, '0xab32'],
    [7, 0, '0xab70'],
  ])
  expect(items.map(({ wallet, listIndex }) => [wallet, listIndex])).toEqual([
    ['0xa', 2],
    ['0xa', 1],
    ['0xa', 0],
  ])
})

test('items without a valid position are omitted', () => {
  expect(read([item('x'), null, {}, item('3')]).map(({ key }) => key.block)).toEqual([3])
})

test('`entries` includes items without a valid position', () => {
  const body = bodyOf([item('x'), null, {}, item('3')])
  expect(itemsOfPage({ wallet: '0xa', body, source: dataApi })).toMatchObject({
    entries: 4,
    items: [{ listIndex: 3 }],
  })
})
