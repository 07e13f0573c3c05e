import { expect, test } from 'vitest'
import { BalanceSums } from '../../../src/ledger/balances/balance-sums.ts'

const TOKEN = `0x${'7'.repeat(40)}`

function row(block: number, wallet: string, decimals: string | null) {
  return {
    transaction_hash: `0x${block}`,
    block_number: String(block),
    wallet_address: wallet,
    entry_type: 'transfer',
    asset_type: 'erc1155',
    asset_address: TOKEN,
    token_id: '4',
    asset_symbol: null,
    value: '1',
    asset_decimals: decimals,
    counterparty_address: null,
    method_name: null,
  }
}

test('the decimals of an asset are the same for all wallets: those of the newest row that has them', () => {
  const sums = new BalanceSums()
  for (const one of [row(1, '0xa', '2'), row(2, '0xb', '3'), row(3, '0xa', null), row(4, '0xc', null)])
    sums.add(one)
  expect(sums.finish().map(({ wallet, decimals }) => [wallet, decimals])).toEqual([
    ['0xa', 3],
    ['0xb', 3],
    ['0xc', 3],
  ])
})

const WRAPPED = `0x${'5'.repeat(40)}`

test.for([
  { method_name: 'deposit()', wraps: true },
  { method_name: 'withdraw(uint256 wad)', wraps: true },
  { method_name: null, wraps: true },
  { method_name: 'buy(uint256)', wraps: false },
  { method_name: 'deposit()', hasEvent: true, wraps: false },
])('coins for a token are a wrap: $method_name, event: $hasEvent', ({ method_name, hasEvent, wraps }) => {
  const sums = new BalanceSums()
  const coin = { ...row(1, '0xa', '18'), asset_type: 'native', asset_address: null, token_id: null }
  sums.add({ ...coin, method_name, counterparty_address: WRAPPED })
  if (hasEvent) sums.add({ ...row(1, '0xa', '18'), asset_address: WRAPPED })
  sums.finish()
  expect(sums.isWrapper(WRAPPED)).toBe(wraps)
})
