import { curveStepAfter, line, stack } from 'd3-shape'
import { largest } from '../core/platform/extremes.ts'
import { type Area, fitValues, round, timeAxis, timeScale, valueAxis, valueScale } from './axes.ts'
import { groupDigits, type Html, html } from './html.ts'

/** An SVG image. `description` is its text alternative for screen readers. */
export function svgHtml(size: { width: number; height: number }, description: string, marks: Html): Html {
  const { width, height } = size
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}">${marks}</svg>`
}

/** Counts by kind from one time to another (milliseconds since 1970). `title` is shown when the bar is pointed at. */
export type Bar<K extends string> = { from: number; to: number; counts: Record<K, number>; title: string }

const BARS = { width: 1184, height: 240 }
const BARS_AREA: Area = { left: 56, right: 1180, top: 22, bottom: 214 }
const WIDE_TICKS = { values: 4, times: 10 }

/** A stacked bar chart over time. Times without a bar stay empty. */
export function stackedBars<K extends string>(
  bars: readonly Bar<K>[],
  { kinds, description, unit }: { kinds: readonly K[]; description: string; unit: string },
): Html {
  const layers = stack<Bar<K>, K>()
    .keys(kinds)
    .value(({ counts }, kind) => counts[kind])([...bars])
  const tops = layers.at(-1)?.map(([, top]) => top) ?? []
  const y = valueScale(tops, BARS_AREA, WIDE_TICKS.values)
  const area = fitValues(BARS_AREA, y, WIDE_TICKS.values)
  const x = timeScale(bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1, area)
  const marks = bars.map(({ from, to, title }, at) => {
    const [left, width] = [x(from), Math.max(1, x(to) - x(from) - 1)]
    const boxes = layers.map((layer) => {
      const [low = 0, high = 0] = layer[at] ?? []
      if (high === low) return html``
      return html`<rect class="k-${layer.key}" x="${round(left)}" y="${round(y(high))}" width="${round(width)}" height="${round(y(low) - y(high))}"/>`
    })
    return tops[at] === 0 ? html`` : html`<g><title>${title}</title>${boxes}</g>`
  })
  const axes = html`<text x="0" y="12">${unit}</text>${valueAxis(y, area, WIDE_TICKS.values)}${timeAxis(x, area, WIDE_TICKS.times)}`
  return svgHtml(BARS, description, html`${axes}${marks}`)
}

/** A small bar chart without axes. */
export function sparkline(counts: readonly number[], description: string): Html {
  const [width, height] = [120, 22]
  const max = largest(counts, 1)
  const step = width / Math.max(1, counts.length)
  const path = counts
    .map((count, at) =>
      count === 0
        ? ''
        : `M${round(at * step)} ${height}v${round(-(count / max) * height)}h${round(Math.max(1, step))}V${height}z`,
    )
    .join('')
  return svgHtml({ width, height }, description, html`<path class="spark" d="${path}"/>`)
}

/** Shows which part of a block range was read; both ranges exclude `to`. */
export function coverageBar(range: { from: number; to: number }, read: { from: number; to: number }): Html {
  const [width, height] = [80, 10]
  const rangeLength = Math.max(1, range.to - range.from)
  const x = round(((read.from - range.from) / rangeLength) * width)
  const barWidth = round(Math.max(1, ((read.to - read.from) / rangeLength) * width))
  const description = `read from block ${groupDigits(read.from)} to ${groupDigits(read.to - 1)}`
  const marks = html`<rect class="track" width="${width}" height="${height}"/><rect class="read" x="${x}" width="${barWidth}" height="${height}"/>`
  return svgHtml({ width, height }, description, marks)
}

/** A value from a time on (milliseconds since 1970); null if it is unknown. */
export type Point = readonly [at: number, value: number | null]

const SMALL = { width: 260, height: 96 }
const SMALL_AREA: Area = { left: 52, right: 252, top: 8, bottom: 74 }
const SMALL_TICKS = { values: 3, times: 2 }
const WIDE = { size: BARS, area: BARS_AREA, ticks: WIDE_TICKS }
const NARROW = { size: SMALL, area: SMALL_AREA, ticks: SMALL_TICKS }

/** A step chart of a value over time. It has a gap where the value is unknown, and a dashed zero line below it. */
export function stepLine(
  points: readonly Point[],
  { description, isWide = false }: { description: string; isWide?: boolean },
): Html {
  const { size, ticks, ...chart } = isWide ? WIDE : NARROW
  const values = points.flatMap(([, value]) => value ?? [])
  const y = valueScale(values, chart.area, ticks.values)
  const area = fitValues(chart.area, y, ticks.values)
  const x = timeScale(points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1, area)
  const path = line<Point>()
    .defined(([, value]) => value !== null)
    .x(([at]) => x(at))
    .y(([, value]) => y(value ?? 0))
    .curve(curveStepAfter)
    .digits(2)(points)
  const zero =
    largest(
      values.map((value) => -value),
      0,
    ) > 0
      ? html`<line class="zero" x1="${area.left}" x2="${area.right}" y1="${round(y(0))}" y2="${round(y(0))}"/>`
      : html``
  const axes = html`${valueAxis(y, area, ticks.values)}${timeAxis(x, area, ticks.times)}`
  return svgHtml(size, description, html`${axes}${zero}<path class="line" d="${path ?? ''}"/>`)
}
