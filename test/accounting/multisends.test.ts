import { expect, test } from 'vitest'
import { groupByWallet, type Movement } from '../../src/accounting/movement.ts'
import { matchMultisends } from '../../src/accounting/multisends.ts'
import { rp2 } from '../../src/accounting/presets/rp2.ts'
import { flowsOf } from '../../src/accounting/statement/flows.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [BEN, CARL] = ['d', 'e'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null })
const payment = movement({ asset: COIN, value: 10n, source: 'transactions' })
const { wallet: ANN, counterparty: CONTRACT } = payment
const received = (wallet: string, value: bigint, given: Partial<Movement> = {}) =>
  movement({ asset: COIN, value, wallet, isOut: false, source: 'internal_transactions', ...given })
const toBen = received(BEN, 4n, { label: 'Ben' })
const toCarl = received(CARL, 3n)

/** Movements as `wallet amount counterparty`, with the direction as sign of the amount. */
const brief = (movements: readonly Movement[]) =>
  movements.map(({ wallet, isOut, value, counterparty, isOwn }) =>
    [nameOf(wallet), isOut ? -value : value, isOwn ? nameOf(counterparty) : 'other'].join(' '),
  )
const nameOf = (wallet: string | null) => (wallet === ANN ? 'Ann' : wallet === BEN ? 'Ben' : 'Carl')

test('splits a payment to a contract into own transfers to the wallets that it pays, and the remainder', () => {
  const matched = matchMultisends([fee, payment, toBen, toCarl])
  expect(brief(matched)).toEqual([
    'Ann -21 other',
    'Ann -4 Ben',
    'Ann -3 Carl',
    'Ann -3 other',
    'Ben 4 Ann',
    'Carl 3 Ann',
  ])
  expect(matched.map(({ entry }) => entry)).toEqual([
    fee.entry,
    payment.entry,
    `${payment.entry}-2`,
    `${payment.entry}-3`,
    toBen.entry,
    toCarl.entry,
  ])
  expect(matched[1]).toMatchObject({ counterpartyName: 'Ben', via: CONTRACT })
})

test('a payment that is passed on completely has no remainder, and counts refunds', () => {
  expect(brief(matchMultisends([payment, toBen, received(CARL, 6n)]))).toEqual([
    'Ann -4 Ben',
    'Ann -6 Carl',
    'Ben 4 Ann',
    'Carl 6 Ann',
  ])
  const refund = received(ANN, 6n)
  expect(brief(matchMultisends([payment, refund, toBen]))).toEqual([
    'Ann -4 Ben',
    'Ann -6 other',
    'Ann 6 other',
    'Ben 4 Ann',
  ])
})

test('matches every asset of its own, and NFTs, beside a payment of the wallet for the service', () => {
  const ape = { ...payment, asset: nft('APE', '7'), value: 1n }
  const apeToBen = { ...ape, wallet: BEN, isOut: false }
  expect(brief(matchMultisends([payment, ape, apeToBen]))).toEqual([
    'Ann -10 other',
    'Ann -1 Ben',
    'Ben 1 Ann',
  ])
})

test('matches within each transaction of a second', () => {
  const later = { transaction: `0x${'9'.repeat(64)}` }
  const both = [payment, toBen, { ...payment, ...later }, { ...toBen, ...later }]
  expect(brief(matchMultisends(both)).filter((text) => !text.endsWith('other'))).toEqual([
    'Ann -4 Ben',
    'Ben 4 Ann',
    'Ann -4 Ben',
    'Ben 4 Ann',
  ])
  expect(matchMultisends([payment, { ...toBen, ...later }])).toEqual([payment, { ...toBen, ...later }])
})

const USDC = token('USDC')

test.for([
  { what: 'the wallets receive more than was paid', movements: [payment, toBen, received(CARL, 7n)] },
  {
    what: 'a refund and the payouts exceed the payment',
    movements: [payment, received(ANN, 7n), toBen],
  },
  { what: 'another address pays', movements: [payment, { ...toBen, counterparty: `0x${'c'.repeat(40)}` }] },
  { what: 'another asset is paid out', movements: [payment, { ...toBen, asset: USDC }] },
  { what: 'the payout is minted', movements: [payment, { ...toBen, type: 'mint' as const }] },
  { what: 'two payments could be meant', movements: [payment, { ...payment }, toBen] },
  {
    what: 'two wallets pay',
    movements: [payment, { ...payment, wallet: CARL, value: 4n }, toBen],
  },
  {
    what: 'the payer receives something for it',
    movements: [payment, received(ANN, 5n, { asset: USDC }), toBen],
  },
  {
    what: 'the other wallet sends something for it',
    movements: [payment, toBen, { ...payment, wallet: BEN, asset: USDC }],
  },
  { what: 'only the payer is paid', movements: [payment, received(ANN, 4n)] },
])('matches nothing if $what', ({ movements }) => {
  expect(matchMultisends(movements)).toEqual(movements)
})

test('a statement counts the parts as own transfers', () => {
  const movements = [payment, received(ANN, 1n), toBen, toCarl]
  const totals = (all: readonly Movement[]) => {
    const sums = new Map<string, bigint>()
    for (const ofWallet of groupByWallet(all))
      for (const { name, value } of flowsOf(ofWallet)) {
        const key = `${nameOf(ofWallet[0].wallet)} ${name}`
        sums.set(key, (sums.get(key) ?? 0n) + value)
      }
    return sums
  }
  // Of 10 that Ann sends, 4 and 3 are for Ben and Carl; the contract keeps 2 and returns 1.
  expect(totals(matchMultisends(movements))).toEqual(
    new Map([
      ['Ann own_out', 7n],
      ['Ann sent', 3n],
      ['Ann received', 1n],
      ['Ben own_in', 4n],
      ['Carl own_in', 3n],
    ]),
  )
})

test('rp2 gets one line for each own transfer of a multisend', () => {
  const placements = rp2.placementsOf(matchMultisends([payment, toBen, toCarl]), {
    labelOf: () => undefined,
    transaction: undefined,
    acceptsSwap: undefined,
  })
  const lines = placements.map((one) =>
    'format' in one && one.writtenAs === undefined ? one.format.file : '',
  )
  expect(lines).toEqual(['intra.csv', 'intra.csv', 'out.csv', '', ''])
})
