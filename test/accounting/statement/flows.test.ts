import { expect, test } from 'vitest'
import type { Movement } from '../../../src/accounting/movement.ts'
import { flowsOf } from '../../../src/accounting/statement/flows.ts'
import { COIN, movement, nft, token } from '../made-up.ts'

const [USDC, WAVAX] = [token('USDC'), token('WAVAX', 18)]
const CONTRACT = WAVAX.address
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null, source: 'transactions' })
const coinOut = movement({ asset: COIN, value: 5n, counterparty: CONTRACT, source: 'transactions' })
const wrapped = movement({ ...coinOut, asset: WAVAX, value: 5n, type: 'wrap', isOut: false })

/** The flows as `name symbol value`. */
const flows = (...movements: Movement[]) =>
  flowsOf(movements).map(({ name, asset, value }) => `${name} ${asset.symbol} ${value}`)

test('a wrap is the token and the coins that were sent for it', () => {
  expect(flows(fee, coinOut, wrapped)).toEqual(['fees AVAX 21', 'wrapped_out AVAX 5', 'wrapped_in WAVAX 5'])
})

test('an unwrap is the token and the coins that the contract paid out', () => {
  const coinIn = movement({ ...coinOut, value: 5n, isOut: false, source: 'internal_transactions' })
  const token = movement({ ...coinIn, asset: WAVAX, value: 5n, type: 'unwrap', isOut: true })
  expect(flows(token, coinIn)).toEqual(['wrapped_out WAVAX 5', 'wrapped_in AVAX 5'])
})

test.for([
  { what: 'another value', other: { ...coinOut, value: 6n } },
  { what: 'another counterparty', other: { ...coinOut, counterparty: `0x${'c'.repeat(40)}` } },
  { what: 'the same direction', other: { ...coinOut, isOut: false } },
  { what: 'another source', other: { ...coinOut, source: 'internal_transactions' } },
])('coins with $what are not part of a wrap', ({ other }) => {
  expect(flows(other, wrapped)).toEqual([
    `${other.isOut ? 'sent' : 'received'} AVAX ${other.value}`,
    'wrapped_in WAVAX 5',
  ])
})

test('each of two equal wraps has coins of its own, and further coins are sent', () => {
  const again = { ...coinOut }
  expect(flows(coinOut, wrapped, again, { ...wrapped }, { ...coinOut })).toEqual([
    'sent AVAX 5',
    'wrapped_out AVAX 5',
    'wrapped_in WAVAX 5',
    'wrapped_out AVAX 5',
    'wrapped_in WAVAX 5',
  ])
})

test('a swap counts net of refunds, and its fee is a fee', () => {
  const sold = movement({ asset: COIN, value: 100n })
  const refund = movement({ asset: COIN, value: 30n, isOut: false })
  const bought = movement({ asset: USDC, value: 7n, isOut: false })
  expect(flows(fee, sold, refund, bought)).toEqual([
    'fees AVAX 21',
    'swapped_in USDC 7',
    'swapped_out AVAX 70',
  ])
})

test('everything else is received or sent', () => {
  const minted = movement({ asset: nft('APE', '7'), value: 1n, isOut: false, type: 'mint' })
  expect(flows(movement({ asset: USDC, value: 500n }), minted)).toEqual(['sent USDC 500', 'received APE 1'])
})
