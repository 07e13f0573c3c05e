import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DayEnds } from '../../src/html-report/day-ends.ts'

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const FIRST = Date.parse('2019-02-27')

/** The expected value at the end of a day: the sum of the movements up to it. */
function valueAt(movements: readonly (readonly [string, bigint])[], day: string): bigint {
  return movements.filter(([when]) => when <= day).reduce((sum, [, value]) => sum + value, 0n)
}

test('has exact values at the end of every day that it returns, year ends included', () => {
  const movement = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.bigInt(-(2n ** 255n), 2n ** 255n))
  const law = fc.property(
    fc.array(movement, { minLength: 1, maxLength: 900 }),
    fc.constantFrom(0, 1, 3),
    (steps, scale) => {
      const ends = new DayEnds()
      let [at, sum] = [FIRST, 0n]
      const movements = steps.map(([days, value]) => {
        at += days * scale * 86_400_000
        sum += value
        ends.set('k', dayOf(at), sum)
        return [dayOf(at), value] as const
      })
      const series = [...(ends.series.get('k') ?? [])]
      for (const day of ends.days()) {
        const known = series.filter(([one]) => one <= day || day === ends.days().at(-1)).at(-1)?.[1] ?? 0n
        expect(known, day).toBe(valueAt(movements, day))
      }
      const [first, last] = [dayOf(FIRST), dayOf(at)]
      for (let year = 2019; `${year}-12-31` < last; year += 1)
        if (`${year}-12-31` > first) expect(ends.days()).toContain(`${year}-12-31`)
      expect(ends.days().at(-1)).toBe(last)
      expect(ends.days().length).toBeLessThan(800)
    },
  )
  fc.assert(law, { numRuns: 60 })
})

test('returns the day before the first movement, days with movements and month ends', () => {
  const ends = new DayEnds()
  for (const day of ['2023-11-14', '2023-11-14', '2023-12-03', '2024-02-29']) ends.set('k', day, 1n)
  expect(ends.days()).toEqual([
    '2023-11-13',
    '2023-11-14',
    '2023-11-30',
    '2023-12-03',
    '2023-12-31',
    '2024-01-31',
    '2024-02-29',
  ])
  expect(new DayEnds().days()).toEqual([])
})
