import { expect, test } from 'vitest'
import { DailyBalances, dayName, worthOf } from '../../src/html-report/worth.ts'

const COIN = 10n ** 8n

test('a price holds until the next one is known, and is marked as old after seven days', () => {
  const daily = new DailyBalances()
  daily.add('a', '2024-01-01T12:00:00.000Z', { change: 2n, isOpening: false })
  daily.add('a', '2024-01-20T12:00:00.000Z', { change: 1n, isOpening: false })
  const quotes = [
    { from: Date.parse('2024-01-01'), price: '5' },
    { from: Date.parse('2024-01-12'), price: '7' },
  ]
  const [series] = daily.series.values()
  if (series === undefined) throw new Error('no series')
  const { days, totals, isOld, assets } = worthOf(daily.chartDays(), [
    { id: 'a', decimals: 0, quotes, series },
  ])
  const valueOn = (day: string) =>
    [totals, isOld].map((all) => all[days.findIndex((one) => dayName(one) === day)])
  expect(days).toHaveLength(20)
  expect(valueOn('2024-01-08')).toEqual([10n * COIN, false])
  expect(valueOn('2024-01-09')).toEqual([10n * COIN, true])
  expect(valueOn('2024-01-12')).toEqual([14n * COIN, false])
  expect(valueOn('2024-01-19')).toEqual([14n * COIN, false])
  expect(valueOn('2024-01-20')).toEqual([21n * COIN, true])
  expect(assets[0]?.price).toBe('7')
})

test('an asset without a price so far is worth nothing and marks the day', () => {
  const daily = new DailyBalances()
  daily.add('a', '2024-01-01T00:00:00.000Z', { change: 2n, isOpening: true })
  daily.add('a', '2024-01-03T00:00:00.000Z', { change: -2n, isOpening: false })
  const [series] = daily.series.values()
  if (series === undefined) throw new Error('no series')
  const quotes = [{ from: Date.parse('2024-01-02'), price: '1.5' }]
  const { totals, isOld } = worthOf(daily.chartDays(), [{ id: 'a', decimals: 0, quotes, series }])
  expect([totals, isOld]).toEqual([
    [0n, 3n * COIN, 0n],
    [true, false, false],
  ])
})

test('a long history has a limited number of days, the last one included', () => {
  const daily = new DailyBalances()
  for (const day of ['1990-01-01', '2024-05-06'])
    daily.add('a', `${day}T00:00:00.000Z`, { change: 1n, isOpening: false })
  const days = daily.chartDays()
  expect(days.length).toBeLessThanOrEqual(801)
  expect(dayName(days.at(-1) ?? 0)).toBe('2024-05-06')
})
