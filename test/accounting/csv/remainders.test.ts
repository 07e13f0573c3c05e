import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Remainders, unitsOfFloat } from '../../../src/accounting/csv/remainders.ts'
import { shiftDecimal } from '../../../src/core/platform/decimal.ts'
import { token } from '../made-up.ts'

/** An amount in units of 10^-18. */
const leg = (value: bigint) => ({ asset: token('DAI', 18), value })
const UNIT = 10n ** 10n

test('the sum of amounts that are received in parts is not less than the sum that is sent', () => {
  const remainders = new Remainders({ maxDecimals: 8 })
  const received = [6n, 6n].map((value) =>
    remainders.round(leg(value * 10n ** 9n), { asset: 'DAI', to: 'a' }),
  )
  expect(received).toEqual([0n, UNIT])
  expect(remainders.round(leg(12n * 10n ** 9n), { asset: 'DAI', from: 'a' })).toBe(UNIT)
})

test('wallets and assets have remainders of their own', () => {
  const remainders = new Remainders({ maxDecimals: 8 })
  const places = [
    { asset: 'DAI', to: 'a' },
    { asset: 'DAI', to: 'b' },
    { asset: 'LUSD', to: 'a' },
  ]
  expect(places.map((place) => remainders.round(leg(9n * 10n ** 9n), place))).toEqual([0n, 0n, 0n])
})

test('assets of one name share a remainder, although their decimals differ', () => {
  const remainders = new Remainders({ maxDecimals: 8 })
  remainders.round(leg(9n * 10n ** 9n), { asset: 'DAI', to: 'a' })
  const nineDecimals = { asset: token('DAI', 9), value: 1n }
  expect(remainders.round(nineDecimals, { asset: 'DAI', to: 'a' })).toBe(10n)
})

/** A change of a wallet's balance: a part of what it holds is sent, if `isOut` is set. */
const step = fc.record({
  amount: fc.bigInt({ min: 1n, max: 10n ** 21n }),
  isOut: fc.boolean(),
  wallet: fc.nat(2),
  to: fc.nat(3),
})

type Step = { amount: bigint; isOut: boolean; wallet: number; to: number }

/** What a program has after the steps, and the exact balances. A step to wallet 3 leaves the wallets. */
function balancesAfter(steps: readonly Step[], readsFloats: boolean) {
  const remainders = new Remainders({ maxDecimals: 11, readsFloats })
  const exact = [0n, 0n, 0n]
  const program = [0n, 0n, 0n]
  const read = (value: bigint) =>
    readsFloats ? unitsOfFloat(shiftDecimal(String(value), 18) ?? '', 11) * 10n ** 7n : value
  const add = (sums: bigint[], at: number, value: bigint) => {
    if (at < 3) sums[at] = (sums[at] ?? 0n) + value
  }
  let lowest: bigint = 0n
  for (const { amount, isOut, wallet, to } of steps) {
    const held = exact[wallet] ?? 0n
    const value = isOut ? amount % (held + 1n) : amount
    if (value === 0n || (isOut && to === wallet)) continue
    const [from, receiver] = isOut ? [wallet, to] : [3, wallet]
    const accounts = {
      ...(from < 3 ? { from: String(from) } : {}),
      ...(receiver < 3 ? { to: String(receiver) } : {}),
    }
    const rounded = read(remainders.round(leg(value), { asset: 'DAI', ...accounts }))
    add(exact, from, -value)
    add(exact, receiver, value)
    add(program, from, -rounded)
    add(program, receiver, rounded)
    for (const balance of program) if (balance < lowest) lowest = balance
  }
  return { lowest, differences: exact.map((value, at) => value - (program[at] ?? 0n)) }
}

test.for([false, true])('no balance falls below zero by rounding (floating point: %s)', (readsFloats) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      (steps) => balancesAfter(steps, readsFloats).lowest === 0n,
    ),
    { numRuns: 300, seed: 33 },
  )
})

test('without transfers between wallets, a balance is the exact one rounded down', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { differences } = balancesAfter(
        steps.map((one) => ({ ...one, to: 3 })),
        false,
      )
      return differences.every((difference) => difference >= 0n && difference < 10n ** 7n)
    }),
    { numRuns: 200, seed: 33 },
  )
})

test.for([
  ['0.1', 10_000_000_000n],
  // The nearest float is 100000000.00000000999…
  ['100000000.00000001', 10_000_000_000_000_001_490n],
  ['0.5', 50_000_000_000n],
  // Two units are equally near: the even one.
  ['1099511627776.000244140625', 109_951_162_777_600_024_414_062n],
] as const)('%s is read as Python reads it', ([text, units]) => {
  expect(unitsOfFloat(text, 11)).toBe(units)
})
