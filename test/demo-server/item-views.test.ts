import { expect, test } from 'vitest'
import { addressesOf, viewItem } from '../../src/demo-server/item-views.ts'

const A = '0x00000000000000000000000000000000000000aa'
const B = '0x00000000000000000000000000000000000000bb'
const C = '0x00000000000000000000000000000000000000cc'
const item = {
  extra: [],
  nativeTransaction: { from: { address: A.toUpperCase() }, to: { address: '' } },
  erc20Transfers: [{ from: { address: B }, to: { address: B } }],
  erc1155Transfers: [],
  internalTransactions: [{ from: { address: B }, to: { address: C } }, { from: null }],
}

test('omits only empty lists, and only with dropsEmpty', () => {
  const { extra, nativeTransaction, internalTransactions } = item
  expect(viewItem(item, { address: C, dropsEmpty: true })).toEqual({
    extra,
    nativeTransaction,
    internalTransactions: internalTransactions.slice(0, 1),
  })
  expect(viewItem(item, { address: A, dropsEmpty: false })).toEqual({
    extra,
    nativeTransaction,
    erc20Transfers: [],
    erc1155Transfers: [],
    internalTransactions: [],
  })
})

test('addressesOf returns every party once, in lower case, without empty ones', () => {
  expect([...addressesOf(item)]).toEqual([A, B, C])
})
