import { expect, test } from 'vitest'
import { negativeLines } from '../../src/cli/file-warnings.ts'
import type { NegativeBalance } from '../../src/ledger/balances/balances.ts'

const COIN: NegativeBalance = {
  wallet_address: '0xa',
  wallet_label: 'ann',
  asset_type: 'native',
  asset_address: null,
  asset_symbol: 'AVAX',
  token_id: null,
  asset_decimals: 18,
  value: 0n,
  amount: '0',
  transaction_hash: '0xb',
  block_number: 7,
  value_then: -2507495287398000n,
  causes: ['a cause'],
}
const TOKEN = { ...COIN, asset_type: 'erc20', asset_address: '0xc', asset_symbol: 'USDC' }

test.for([
  [COIN, 'AVAX was below zero (-0.002507495287398 AVAX)'],
  [{ ...TOKEN, asset_decimals: null }, 'USDC (0xc) was below zero (-2507495287398000 in the smallest unit)'],
  [
    { ...TOKEN, asset_type: 'erc721', token_id: '5', asset_decimals: null, value_then: -1n },
    'USDC #5 (0xc) was below zero (-1)',
  ],
] as const)('a negative balance is stated in whole units if the decimals are known', ([balance, text]) => {
  expect(negativeLines([balance])).toEqual([`ann: ${text} after transaction 0xb in block 7: a cause`])
})
