import { expect, test } from 'vitest'
import { BalanceSums } from '../../../src/ledger/balances/balance-sums.ts'

const TOKEN = `0x${'7'.repeat(40)}`

function row(block: number, wallet: string, decimals: string | null) {
  return {
    ...{ transaction_hash: `0x${block}`, block_number: String(block), wallet_address: wallet },
    ...{ asset_type: 'erc1155', asset_address: TOKEN, token_id: '4', asset_symbol: null, value: '1' },
    ...{ asset_decimals: decimals, counterparty_address: null, method_name: null },
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
