import { expect, test } from 'vitest'
import { importRowsOf } from '../../src/accounting/import-rows.ts'
import { groupByWallet, type Movement } from '../../src/accounting/movement.ts'
import { matchOwnTransfers } from '../../src/accounting/paid-swaps.ts'
import { rp2 } from '../../src/accounting/presets/rp2.ts'
import { flowsOf } from '../../src/accounting/statement/flows.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [BEN, CARL] = ['d', '1'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
const [USDC, WETH] = [token('USDC'), token('WETH', 18)]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null, label: 'Ann' })
const paid = movement({ asset: USDC, value: 500n, label: 'Ann' })
const refund = movement({ asset: USDC, value: 20n, isOut: false, label: 'Ann' })
const bought = movement({ asset: WETH, value: 7n, isOut: false, wallet: BEN, label: 'Ben' })

/** The rows by wallet, as kind, amounts, and the other wallet of own transfers. */
const rowsOf = (movements: readonly Movement[]) =>
  groupByWallet(movements).flatMap((group) =>
    importRowsOf(group, () => true).map(({ kind, in: into, out, isOwn, movements: [first] }) =>
      [first.label, kind, out?.value, into?.value, isOwn ? first.counterpartyName : '']
        .filter((part) => part !== undefined && part !== '')
        .join(' '),
    ),
  )

test('a swap that pays another own wallet is a swap and an own transfer', () => {
  const matched = matchOwnTransfers([fee, paid, refund, bought])
  expect(rowsOf(matched)).toEqual(['Ann fee 21', 'Ann swap 480 7', 'Ben in 7 Ann', 'Ann out 7 Ben'])
  expect(matched.map(({ entry }) => entry)).toEqual([
    ...[fee, paid, refund].map(({ entry }) => entry),
    `${bought.entry}-2`,
    bought.entry,
    `${bought.entry}-3`,
  ])
  const first = { ...bought, wallet: CARL }
  expect(matchOwnTransfers([first, fee, paid])).toHaveLength(5)
})

test('sums, and the flows of a statement, lead to the same balances', () => {
  const matched = matchOwnTransfers([fee, paid, bought])
  const net = (movements: readonly Movement[], wallet: string) =>
    movements
      .filter((each) => each.wallet === wallet && each.asset === WETH)
      .reduce((sum, { isOut, value }) => sum + (isOut ? -value : value), 0n)
  expect([net(matched, paid.wallet), net(matched, BEN)]).toEqual([0n, 7n])
  const flows = groupByWallet(matched).flatMap((group) => flowsOf(group).map(({ name }) => name))
  expect(flows).toEqual(['fees', 'swapped_in', 'swapped_out', 'own_in', 'own_out'])
})

test('rp2 gets one transfer', () => {
  const placements = rp2.placementsOf(matchOwnTransfers([fee, paid, bought]), {
    labelOf: () => undefined,
    transaction: undefined,
  })
  const files = placements.map((placement) => ('format' in placement ? placement.format.file : 'none'))
  expect(files.filter((file) => file === 'intra.csv')).toHaveLength(2)
  expect(placements.filter((placement) => 'writtenAs' in placement && placement.writtenAs)).toHaveLength(1)
})

test('two transactions of one second are each a swap', () => {
  const later = [fee, paid, bought].map((each) => ({ ...each, transaction: '0x2', entry: `${each.entry}x` }))
  expect(matchOwnTransfers([fee, paid, bought, ...later])).toHaveLength(10)
})

test.for([
  { what: 'the payer did not send the transaction', movements: [paid, bought] },
  { what: 'the payer receives something else', movements: [fee, paid, { ...refund, asset: WETH }, bought] },
  { what: 'the other wallet sends something', movements: [fee, paid, bought, { ...bought, isOut: true }] },
  { what: 'two wallets are paid', movements: [fee, paid, bought, { ...bought, wallet: CARL }] },
  { what: 'an NFT is bought', movements: [fee, paid, { ...bought, asset: nft('APE', '1') }] },
  { what: 'a share is minted', movements: [fee, paid, { ...bought, type: 'mint' as const }] },
  { what: 'it is a claim', movements: [fee, paid, bought].map((each) => ({ ...each, method: 'claim()' })) },
  {
    what: 'it is a deposit to a pool',
    movements: [fee, paid, bought].map((each) => ({ ...each, method: 'addLiquidity(…)' })),
  },
])('nothing is matched if $what', ({ movements }) => {
  expect(matchOwnTransfers(movements)).toEqual(movements)
})
