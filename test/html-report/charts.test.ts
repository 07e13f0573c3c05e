import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/core/model/utc.ts'
import { dayChart } from '../../src/html-report/charts.ts'
import { type Flow, flowChart } from '../../src/html-report/flow-chart.ts'
import { textIn } from '../../src/html-report/messages/text.ts'

const textsIn = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]+)<\/text>/g)].map(([, text]) => text)
const dayOf = (day: string) => Date.parse(day) / DAY_MS

/** The chart of values from a day on, for wide screens and for phones. */
function charts(
  first: string,
  totals: readonly number[],
  isOld: readonly boolean[] = [],
): [wide: string, narrow: string] {
  const days = totals.map((_, at) => dayOf(first) + at)
  const [wide = '', narrow = ''] = dayChart(
    { days, totals, isOld, description: 'd' },
    textIn('en'),
  ).text.split('</svg>')
  return [wide, narrow]
}

describe('a chart of days', () => {
  test('has round values and names a year at its first tick', () => {
    const [wide] = charts(
      '2023-10-20',
      Array.from({ length: 150 }, (_, day) => 5 * day),
    )
    expect(textsIn(wide)).toEqual([
      '0',
      '200',
      '400',
      '600',
      '800',
      ...['Nov 2023', 'Dec', '2024', 'Feb', 'Mar'],
    ])
  })

  test('has labels that neither overlap nor leave the picture, at both sizes', () => {
    for (const days of [2, 5, 40, 400, 4_000])
      for (const svg of charts(
        '2020-02-27',
        Array.from({ length: days }, (_, day) => -1e6 * day),
      )) {
        const width = Number(/width="(\d+)"/.exec(svg)?.[1])
        const labels = [...svg.matchAll(/class="middle" x="([\d.]+)"[^>]*>([^<]+)</g)].map(
          ([, x, text = '']) => ({
            from: Number(x) - 3.5 * text.length,
            to: Number(x) + 3.5 * text.length,
          }),
        )
        expect(labels.length).toBeGreaterThan(0)
        for (const [at, { from, to }] of labels.entries()) {
          expect(from).toBeGreaterThan(labels[at - 1]?.to ?? -1)
          expect(to).toBeLessThanOrEqual(width)
        }
        for (const [, right, text = ''] of svg.matchAll(/class="end" x="([\d.]+)"[^>]*>([^<]+)</g))
          expect(Number(right) - 7 * text.length).toBeGreaterThanOrEqual(0)
      }
  })

  test('is dashed where prices are old, and solid elsewhere, without a gap', () => {
    const [wide] = charts('2024-01-01', [1, 2, 3, 4, 5], [false, false, true, true, false])
    const path = (name: string) => new RegExp(`class="${name}" d="([^"]*)"`).exec(wide)?.[1] ?? ''
    const points = (d: string) => d.match(/[\d.]+,[\d.]+/g) ?? []
    expect([points(path('line')).length, points(path('line old')).length]).toEqual([3, 4])
  })
})

describe('a chart of flows', () => {
  test('has a name for each node, none above another', () => {
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

  test('keeps wallets of the same name apart, and needs no senders', () => {
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
