import { expect, test } from 'vitest'
import { roundDecimal, roundScientific } from '../../../src/core/platform/decimal.ts'

test.for([
  ['9999.953445648', 5, '9999.95345'],
  ['10005.99705841', 4, '10005.9971'],
  ['1821731.815', 2, '1821731.82'],
  ['1821731.814999999999999999999999', 2, '1821731.81'],
  ['99.995', 2, '100.00'],
  ['-0.005', 2, '-0.01'],
  ['-0.004', 2, '0.00'],
  ['0.5', 0, '1'],
  ['7', 2, '7.00'],
  [
    '115792089237316195423570985008687907853269984665640564039457.5',
    0,
    '115792089237316195423570985008687907853269984665640564039458',
  ],
] as const)('%s is rounded to %i decimal places half away from zero', ([exact, places, rounded]) => {
  expect(roundDecimal(exact, places)).toBe(rounded)
})

test.for([
  ['1000499999.995', '1.000', 9],
  ['1000500000', '1.001', 9],
  ['-99995', '-1.000', 5],
  ['0.00000012345', '1.235', -7],
  ['0', '0.000', 0],
] as const)('%s in scientific notation is %s × 10^%i', ([exact, mantissa, exponent]) => {
  expect(roundScientific(exact, 3)).toEqual({ mantissa, exponent })
})
