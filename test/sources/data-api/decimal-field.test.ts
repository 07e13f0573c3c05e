import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shiftDecimal } from '../../../src/core/platform/decimal.ts'
import { decimalAt } from '../../../src/sources/data-api/transfers.ts'

test.for([
  { whole: '1', decimals: 18, shifted: '0.000000000000000001' },
  { whole: '2500000', decimals: 6, shifted: '2.5' },
  { whole: '-2500000', decimals: 6, shifted: '-2.5' },
  { whole: '1000000', decimals: 6, shifted: '1' },
  { whole: '1200', decimals: 0, shifted: '1200' },
  { whole: '0', decimals: 255, shifted: '0' },
  { whole: '-7', decimals: 1, shifted: '-0.7' },
  { whole: '5', decimals: 255, shifted: `0.${'0'.repeat(254)}5` },
  { whole: '5', decimals: 256, shifted: null },
  { whole: '5', decimals: -1, shifted: null },
  { whole: '5', decimals: null, shifted: null },
])('shifts $whole by $decimals decimals to $shifted', ({ whole, decimals, shifted }) => {
  expect(shiftDecimal(whole, decimals)).toBe(shifted)
})

const wholes = fc.bigInt({ min: -(10n ** 78n) + 1n, max: 10n ** 78n - 1n })

test('writes every amount exactly and in its shortest form', () => {
  fc.assert(
    fc.property(wholes, fc.integer({ min: 0, max: 255 }), (whole, decimals) => {
      const text = shiftDecimal(String(whole), decimals) ?? ''
      expect(text).toMatch(/^(0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d*[1-9])$/)
      const [integer = '', fraction = ''] = text.split('.')
      expect(BigInt(integer + fraction) * 10n ** BigInt(decimals - fraction.length)).toBe(whole)
    }),
    { numRuns: 500 },
  )
})

test.for([
  { given: '1e-7', read: '0.0000001' },
  { given: 1e-7, read: '0.0000001' },
  { given: 1e21, read: `1${'0'.repeat(21)}` },
  { given: '1E+3', read: '1000' },
  { given: '12.5e1', read: '125' },
  { given: '-123e-2', read: '-1.23' },
  { given: '001.500', read: '1.5' },
  { given: '-0', read: '0' },
  { given: '-0.00', read: '0' },
  { given: '0e5', read: '0' },
  { given: 1.1, read: '1.1' },
  { given: 0, read: '0' },
  { given: '', read: null },
  { given: null, read: null },
  { given: undefined, read: null },
])('reads the price $given as $read', ({ given, read }) => {
  expect(decimalAt({ price: given }, 'price')).toBe(read)
})

test.for(['abc', '1,5', '.5', '5.', '+5', ' 5', '1e1000', '0x10', 'NaN', true, {}, [1]])(
  'reads the price %j as null',
  (given) => {
    expect(decimalAt({ price: given }, 'price')).toBeNull()
  },
)

test('reads every JSON number as the same number without exponent', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const text = decimalAt({ price: number }, 'price') ?? ''
      expect(text).toMatch(/^-?\d+(\.\d*[1-9])?$/)
      expect(Number(text)).toBe(number === 0 ? 0 : number)
    }),
  )
})
