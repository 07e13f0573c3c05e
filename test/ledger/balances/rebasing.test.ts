import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/accounting/convert.ts'
import { balances } from '../../../src/ledger/balances/balances.ts'
import { exportMadeUp } from '../../accounting/made-up-export.ts'
import { ANN, address, createChain } from '../../accounting/made-up-transactions.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const output = join(suiteFolder(), 'output')
const [FRIEND, POOL, ZERO] = ['3', '2', '0'].map(address) as [string, string, string]
const token = (symbol: string, digits: string) => ({
  address: `0x${digits.repeat(20)}`,
  name: symbol,
  symbol,
  decimals: 6,
})
const [USDC, AUSDC, FAKE] = [token('USDC', '2a'), token('aUSDC', '2b'), token('GIFT', '2c')]
const { transaction, erc20 } = createChain()

/** 1,000 are lent and grow to 1,040 without events; another token only claims that the wallet sent it. */
const CHAIN = [
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [ANN, POOL], method: 'supply(address,uint256)' },
    { erc20: [erc20(USDC, [ANN, POOL], 1_000_000_000n), erc20(AUSDC, [ZERO, ANN], 1_000_000_000n)] },
  ),
  transaction(
    { at: '2024-06-01T00:00:00Z', parties: [ANN, POOL], method: 'withdraw(address,uint256)' },
    { erc20: [erc20(AUSDC, [ANN, ZERO], 1_040_000_000n), erc20(USDC, [POOL, ANN], 1_040_000_000n)] },
  ),
  transaction(
    { at: '2024-06-02T00:00:00Z', parties: [FRIEND, FAKE.address] },
    { erc20: [erc20(FAKE, [ANN, FRIEND], 5_000_000n)] },
  ),
]

beforeAll(() => exportMadeUp(output, CHAIN))

test('a balance below zero is a sign of spam only if others moved the token', async () => {
  const { belowZero, flagged } = await balances(output)
  expect(belowZero.map(({ asset_symbol }) => asset_symbol).sort()).toEqual(['AVAX', 'GIFT', 'USDC', 'aUSDC'])
  expect(flagged.map(({ asset_symbol }) => asset_symbol)).toEqual(['GIFT'])
})

test('a conversion without spam keeps both sides of a rebasing deposit', async () => {
  const lines: string[] = []
  const { omitted } = await convert(output, {
    to: 'generic',
    excludeSpam: true,
    write: (text) => void lines.push(...text.split('\n')),
  })
  expect(Object.values(omitted)).toEqual([1])
  expect(lines.filter((line) => line.includes(AUSDC.address))).toHaveLength(2)
})
