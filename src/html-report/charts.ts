import { largest, smallest } from '../core/platform/extremes.ts'
import { groupDigits, type Html, html } from './html.ts'

const round = (n: number) => Math.round(n * 100) / 100

/** An SVG image. `description` is its text alternative for screen readers. */
export function svgHtml(size: { width: number; height: number }, description: string, marks: Html): Html {
  const { width, height } = size
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}">${marks}</svg>`
}

export type Bar = { name: string; parts: readonly { kind: string; count: number }[]; title: string }

const BARS = { width: 960, height: 220, left: 46, bottom: 24, top: 8 }

/** A stacked bar chart. At most eight bars, at equal distances, get a label. */
export function stackedBars(bars: readonly Bar[], description: string): Html {
  const { width, height, left, bottom, top } = BARS
  const max = largest(
    bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0)),
    1,
  )
  const plotHeight = height - bottom - top
  const step = (width - left) / Math.max(1, bars.length)
  const marks = bars.map(({ parts, title }, at) => {
    let y = height - bottom
    const boxes = parts.map(({ kind, count }) => {
      const barHeight = (count / max) * plotHeight
      y -= barHeight
      return count === 0
        ? html``
        : box({ kind, x: left + at * step, y, width: Math.max(1, step - 1), height: barHeight })
    })
    return html`<g><title>${title}</title>${boxes}</g>`
  })
  const tickInterval = Math.max(1, Math.ceil(bars.length / 8))
  const ticks = bars.map(({ name }, at) => {
    const x = round(left + at * step)
    // A label this close to the right edge would be cut off.
    if (at % tickInterval !== 0 || x > width - 80) return html``
    return html`<text x="${x}" y="${height - 6}">${name}</text>`
  })
  const levels = [0, 0.5, 1].map((share) => {
    const y = round(height - bottom - share * plotHeight)
    return html`<line x1="${left}" x2="${width}" y1="${y}" y2="${y}" class="grid"/><text x="${left - 6}" y="${y + 4}" class="end">${groupDigits(Math.round(max * share))}</text>`
  })
  return svgHtml(BARS, description, html`${levels}${marks}${ticks}`)
}

type Box = { kind: string; x: number; y: number; width: number; height: number }
const box = ({ kind, x, y, width, height }: Box) =>
  html`<rect class="k-${kind}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"/>`

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

/** A step chart of a value over time, with a dashed zero line if any value is negative. */
export function stepLine(
  points: readonly (readonly [at: number, value: number])[],
  description: string,
): Html {
  const [width, height] = [220, 60]
  const values = points.map(([, value]) => value)
  const [low, high] = [smallest(values, 0), largest(values, 0)]
  const first = points[0]?.[0] ?? 0
  const rangeLength = Math.max(1, (points.at(-1)?.[0] ?? 0) - first)
  const xOf = (at: number) => round(((at - first) / rangeLength) * width)
  const yOf = (value: number) => round(2 + (1 - (value - low) / (high - low || 1)) * (height - 4))
  const path = points.map(([at, value], n) =>
    n === 0 ? `M${xOf(at)} ${yOf(value)}` : `H${xOf(at)}V${yOf(value)}`,
  )
  const zero =
    low < 0 ? html`<line class="zero" x1="0" x2="${width}" y1="${yOf(0)}" y2="${yOf(0)}"/>` : html``
  return svgHtml({ width, height }, description, html`${zero}<path class="line" d="${path.join('')}"/>`)
}

/** A heat map. The opacity of a cell grows with the square root of its count; cells with a count of 0 stay empty. */
export function heatMap(
  rows: readonly { name: string; counts: readonly number[] }[],
  columns: readonly string[],
  description: string,
): Html {
  const [left, rowHeight] = [150, 20]
  const width = 960
  const step = (width - left) / Math.max(1, columns.length)
  const max = largest(
    rows.flatMap(({ counts }) => counts),
    1,
  )
  const marks = rows.map(({ name, counts }, row) => {
    const cells = counts.map((count, at) =>
      count === 0
        ? html``
        : html`<rect class="heat" x="${round(left + at * step)}" y="${row * rowHeight}" width="${round(Math.max(1, step - 1))}" height="${rowHeight - 2}" opacity="${round(0.15 + 0.85 * Math.sqrt(count / max))}"><title>${name}, ${columns[at]}: ${groupDigits(count)}</title></rect>`,
    )
    return html`<text x="${left - 6}" y="${row * rowHeight + 14}" class="end">${name}</text>${cells}`
  })
  return svgHtml({ width, height: rows.length * rowHeight }, description, html`${marks}`)
}
