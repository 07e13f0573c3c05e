import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { openDataset } from '../../../src/read/dataset.ts'
import type { BalanceReader } from '../../../src/sources/balances.ts'
import { proposeAdjustments } from '../../../src/verify/reconcile/propose-adjustments.ts'
import { divideRebasing, type RebaseOptions } from '../../../src/verify/reconcile/rebase-income.ts'
import { exportMadeUp } from '../../accounting/made-up-export.ts'
import { ANN, address, createChain } from '../../accounting/made-up-transactions.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const output = join(suiteFolder(), 'out')
const STETH = { address: '0xae7ab96520de3a18e5e111b5eaab095312d7fe84', symbol: 'stETH', decimals: 18 }
const [FRIEND, SHOP] = [address('3'), address('9')] as [string, string]

beforeAll(async () => {
  const { transaction, erc20 } = createChain('1')
  const receive = (at: string) =>
    transaction({ at, parties: [FRIEND, ANN] }, { erc20: [erc20(STETH, [FRIEND, ANN], 1_000n)] })
  const send = (at: string, value: bigint) =>
    transaction({ at, parties: [ANN, SHOP] }, { erc20: [erc20(STETH, [ANN, SHOP], value)] })
  const coins = (at: string) => transaction({ at, parties: [FRIEND, ANN], value: 10n ** 18n })
  const blocks = [
    [1_000, coins('2022-06-01T00:00:00Z')],
    [2_000, receive('2022-07-02T00:00:00Z')],
    // Between these two, blocks take a day each: 2022 ends in block 2,182, and 2023 with block 2,547.
    [2_732, coins('2024-07-03T00:00:00Z')],
    [2_800, send('2024-08-01T00:00:00Z', 1_020n)],
    [2_900, coins('2024-09-01T00:00:00Z')],
  ] as const
  const chain = blocks.map(([block, { nativeTransaction, ...entries }]) => ({
    nativeTransaction: { ...nativeTransaction, blockNumber: String(block) },
    ...entries,
  }))
  await exportMadeUp(output, chain, '1', { endBlock: 3_000 })
})

const ROW = {
  wallet_address: ANN,
  wallet_label: null,
  asset_type: 'erc20',
  asset_address: STETH.address,
  asset_symbol: 'stETH',
  token_id: null,
  ledger_value: -20n,
  service_value: 5n,
  difference: 25n,
  likely_cause: 'it rebases',
}

/** A service in which a thousand units grow by one every 36 blocks. */
function readerOf(asked: number[], given: Partial<BalanceReader> = {}): BalanceReader {
  return {
    latestOnly: new Set(),
    read: async (_, { block }) => {
      asked.push(Number(block))
      const sent = Number(block) < 2_800 ? 0n : 1_020n
      const grown = BigInt(Math.floor((Number(block) - 1_990) / 36))
      const asset = { type: 'erc20', address: STETH.address, tokenId: null } as const
      return new Map([['', { ...asset, value: 1_000n - sent + grown }]])
    },
    readFee: async () => undefined,
    hasTransactionsFrom: async () => false,
    refusal: () => undefined,
    ...given,
  }
}

async function divide(period: RebaseOptions['period'], given: Partial<BalanceReader> = {}) {
  const asked: number[] = []
  let predicted = 0
  const opened = await openDataset(output)
  try {
    const onStart = (requests: number) => (predicted = requests)
    const options = { period, reader: readerOf(asked, given), rows: [ROW], learned: [], onStart }
    const income = await divideRebasing(opened, options)
    return { income, asked: asked.sort((a, b) => a - b), predicted }
  } finally {
    await opened.close()
  }
}

test('growth is divided at the ends of years, and before a transaction that sends the token', async () => {
  const { income, asked, predicted } = await divide('year')
  expect(asked).toEqual([2_182, 2_547, 2_799])
  expect(predicted).toBe(3)
  expect(income.map(({ time, value }) => [time, value])).toEqual([
    ['2022-12-31T23:59:59.000Z', 5n],
    ['2023-12-31T23:59:59.000Z', 10n],
    ['2024-07-31T23:59:59.000Z', 7n],
  ])
})

test('by day, there is a balance of each day, and the sum is the same', async () => {
  const { income, predicted } = await divide('day')
  expect(predicted).toBeGreaterThan(700)
  expect(income.reduce((sum, { value }) => sum + value, 0n)).toBe(
    (await divide('month')).income.reduce((sum, { value }) => sum + value, 0n),
  )
  expect(new Set(income.map(({ value }) => value))).toEqual(new Set([1n]))
})

test('the proposal ends with what remains at the newest row', async () => {
  const { income } = await divide('year')
  const lines = await proposeAdjustments(output, { rows: [ROW], rebased: income })
  expect(lines.map(([time, , , , , , value, type, note]) => [time, value, type, note])).toEqual([
    ['2022-12-31T23:59:59.000Z', '5', 'rebase', 'by the balance after block 2182'],
    ['2023-12-31T23:59:59.000Z', '10', 'rebase', 'by the balance after block 2547'],
    ['2024-07-31T23:59:59.000Z', '7', 'rebase', 'by the balance after block 2799'],
    ['2024-09-01T00:00:00.000Z', '3', 'rebase', 'it rebases'],
  ])
})

test('nothing is divided if the service reports current balances only, or refuses earlier ones', async () => {
  const latest = await divide('year', { latestOnly: new Set(['erc20']) })
  expect([latest.income, latest.asked]).toEqual([[], []])
  expect((await divide('year', { read: async () => undefined })).income).toEqual([])
})
