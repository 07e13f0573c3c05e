import { describe, expect, test } from 'vitest'
import { Buckets } from '../../src/html-report/buckets.ts'
import { stackedBars, stepLine } from '../../src/html-report/charts.ts'
import { type Flow, flowChart } from '../../src/html-report/flow-chart.ts'

const textsIn = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]+)<\/text>/g)].map(([, text]) => text)
const at = (time: string) => Date.parse(`${time}Z`)

describe('a chart', () => {
  test('of months has round values and calendar dates on its axes', () => {
    const bars = ['2023-11-01', '2024-01-01', '2024-03-01'].map((day) => ({
      from: at(`${day}T00:00`),
      to: at(`${day.slice(0, 8)}29T00:00`),
      title: day,
      counts: { fee: 730 },
    }))
    const svg = stackedBars(bars, { kinds: ['fee'], description: 'd', unit: 'movements per month' }).text
    expect(textsIn(svg)).toEqual([
      'movements per month',
      '0',
      '200',
      '400',
      '600',
      '800',
      '2023-11-01',
      'Dec',
      '2024',
      'Feb',
      'Mar',
    ])
  })

  test('leaves a gap where there are no movements, as wide as the time', () => {
    const bars = ['00:00', '01:00', '06:00'].map((time) => ({
      from: at(`2024-01-01T${time}`),
      to: at(`2024-01-01T${time}`) + 3_600_000,
      title: time,
      counts: { fee: time === '01:00' ? 0 : 1 },
    }))
    const svg = stackedBars(bars, { kinds: ['fee'], description: 'd', unit: 'u' }).text
    const lefts = [...svg.matchAll(/<rect class="k-fee" x="([\d.]+)"/g)].map(([, x]) => Number(x))
    const [first = 0, last = 0] = lefts
    expect(lefts).toHaveLength(2)
    expect((last - first) / (1180 - 56)).toBeCloseTo(6 / 7, 3)
  })

  test('of a value is interrupted where the value is unknown', () => {
    const points = [[0, 1] as const, [1, 2] as const, [2, null] as const, [3, 4] as const, [4, 4] as const]
    const path = /class="line" d="([^"]*)"/.exec(stepLine(points, { description: 'd' }).text)?.[1] ?? ''
    expect(path.match(/M/g)).toHaveLength(2)
  })

  test('has room for the values of its axis, with their signs', () => {
    for (const value of [-10_000, -1.5e-9, 3, -123_456_789]) {
      const svg = stepLine(
        [
          [0, 0],
          [1, value],
        ],
        { description: 'd' },
      ).text
      const labels = [...svg.matchAll(/<text x="([\d.]+)"[^>]*class="end">([^<]+)</g)]
      expect(labels.length).toBeGreaterThan(1)
      // No character of the usual fonts is wider.
      for (const [, right, text = ''] of labels)
        expect(Number(right) - 7 * text.length).toBeGreaterThanOrEqual(0)
    }
  })

  test('of flows has a name for each node, none above another', () => {
    const flows: Flow[] = Array.from({ length: 12 }, (_, one) => ({
      counterparty: { address: `0xc${one}`, name: `Shop ${one}` },
      wallet: { address: `0xa${one % 7}`, name: `Wallet ${one % 7}` },
      count: one < 2 ? 100_000 : 1,
    }))
    const svg = flowChart([], flows, 'd').text
    const height = Number(/ height="(\d+)" role/.exec(svg)?.[1])
    const names = [...svg.matchAll(/<text class="name" x="([\d.]+)" y="([\d.]+)"/g)]
    expect(names).toHaveLength(12 + 7)
    for (const left of new Set(names.map(([, x]) => x))) {
      const column = names.filter(([, x]) => x === left)
      const lines = column.map(([, , y]) => Number(y)).sort((a, b) => a - b)
      for (const [at, y] of lines.slice(1).entries()) expect(y - (lines[at] ?? 0)).toBeGreaterThan(12)
      expect(lines.at(-1)).toBeLessThan(height - 1)
    }
  })

  test('of flows keeps wallets of the same name apart, and needs no senders', () => {
    const flows: Flow[] = ['0xa', '0xb'].map((address) => ({
      counterparty: { address: '0xc', name: 'Shop' },
      wallet: { address, name: 'Main' },
      count: 3,
    }))
    const svg = flowChart([], flows, 'd').text
    expect(textsIn(svg).sort()).toEqual(['Main 3', 'Main 3', 'Shop 6'])
    const lefts = [...svg.matchAll(/<rect class="node" x="([\d.]+)"/g)].map(([, x]) => x)
    expect(new Set(lefts).size).toBe(2)
  })
})

describe('the buckets of a history', () => {
  const seriesOf = (times: readonly string[]) => {
    const buckets = new Buckets()
    const counts = buckets.series<number>((a, b) => a + b)
    for (const time of times) {
      const start = buckets.bucketOf(at(time))
      counts.set(start, (counts.get(start) ?? 0) + 1)
    }
    const named = [...counts].map(([start, count]) => [buckets.nameOf(start), count])
    return [buckets.sizeName, Object.fromEntries(named)]
  }

  test.for([
    {
      times: ['2024-02-28T23:59', '2024-03-01T00:00'],
      size: '15 minutes',
      names: ['2024-02-28 23:45', '2024-03-01 00:00'],
    },
    { times: ['2023-12-31T23:59', '2024-12-31T00:00'], size: 'day', names: ['2023-12-31', '2024-12-31'] },
    { times: ['2023-01-31T12:00', '2024-12-01T00:00'], size: 'month', names: ['2023-01', '2024-12'] },
    { times: ['1970-06-01T00:00', '2024-12-01T00:00'], size: 'year', names: ['1970', '2024'] },
  ])('from $times.0 to $times.1 are of one $size of the calendar', ({ times, size, names }) => {
    expect(seriesOf(times)).toEqual([size, Object.fromEntries(names.map((name) => [name, 1]))])
  })

  test('are merged without losing a movement when the history becomes longer', () => {
    const days = Array.from({ length: 800 }, (_, day) =>
      new Date(Date.UTC(2022, 0, 1 + day)).toISOString().slice(0, 16),
    )
    const [size, counts] = seriesOf(days)
    expect(size).toBe('month')
    expect(counts).toMatchObject({ '2022-01': 31, '2022-02': 28, '2023-12': 31, '2024-02': 29 })
  })
})
