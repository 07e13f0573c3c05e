import { largest, smallest } from '../core/platform/extremes.ts'
import { grouped, type Html, html } from './html.ts'

const round = (n: number) => Math.round(n * 100) / 100

/** A picture, which one sentence describes to those who do not see it. */
export function pictureHtml(size: { width: number; height: number }, sentence: string, marks: Html): Html {
  const { width, height } = size
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${sentence}">${marks}</svg>`
}

export type Bar = { name: string; parts: readonly { kind: string; count: number }[]; title: string }

const BARS = { width: 960, height: 220, left: 46, bottom: 24, top: 8 }

/** Bars side by side, each of parts one on the other; ticks name some of them. */
export function stackedBars(bars: readonly Bar[], sentence: string): Html {
  const { width, height, left, bottom, top } = BARS
  const most = largest(
    bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0)),
    1,
  )
  const room = height - bottom - top
  const step = (width - left) / Math.max(1, bars.length)
  const marks = bars.map(({ parts, title }, at) => {
    let y = height - bottom
    const boxes = parts.map(({ kind, count }) => {
      const tall = (count / most) * room
      y -= tall
      return count === 0 ? html`` : box({ kind, x: left + at * step, y, wide: Math.max(1, step - 1), tall })
    })
    return html`<g><title>${title}</title>${boxes}</g>`
  })
  const every = Math.max(1, Math.ceil(bars.length / 8))
  const ticks = bars.map(({ name }, at) => {
    const x = round(left + at * step)
    // The last name would be cut off at the margin.
    if (at % every !== 0 || x > width - 80) return html``
    return html`<text x="${x}" y="${height - 6}">${name}</text>`
  })
  const levels = [0, 0.5, 1].map((share) => {
    const y = round(height - bottom - share * room)
    return html`<line x1="${left}" x2="${width}" y1="${y}" y2="${y}" class="grid"/><text x="${left - 6}" y="${y + 4}" class="end">${grouped(Math.round(most * share))}</text>`
  })
  return pictureHtml(BARS, sentence, html`${levels}${marks}${ticks}`)
}

type Box = { kind: string; x: number; y: number; wide: number; tall: number }
const box = ({ kind, x, y, wide, tall }: Box) =>
  html`<rect class="k-${kind}" x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(tall)}"/>`

/** A row of small bars without axes. */
export function sparkline(counts: readonly number[], sentence: string): Html {
  const [width, height] = [120, 22]
  const most = largest(counts, 1)
  const step = width / Math.max(1, counts.length)
  const path = counts
    .map((count, at) =>
      count === 0
        ? ''
        : `M${round(at * step)} ${height}v${round(-(count / most) * height)}h${round(Math.max(1, step))}V${height}z`,
    )
    .join('')
  return pictureHtml({ width, height }, sentence, html`<path class="spark" d="${path}"/>`)
}

/** Which part of a range of blocks was read. */
export function coverageBar(range: { from: number; to: number }, read: { from: number; to: number }): Html {
  const [width, height] = [80, 10]
  const span = Math.max(1, range.to - range.from)
  const x = round(((read.from - range.from) / span) * width)
  const wide = round(Math.max(1, ((read.to - read.from) / span) * width))
  const sentence = `read from block ${grouped(read.from)} to ${grouped(read.to - 1)}`
  const marks = html`<rect class="track" width="${width}" height="${height}"/><rect class="read" x="${x}" width="${wide}" height="${height}"/>`
  return pictureHtml({ width, height }, sentence, marks)
}

/** A value over time, in steps; a dashed line where it is zero, if it ever was below. */
export function stepLine(points: readonly (readonly [at: number, value: number])[], sentence: string): Html {
  const [width, height] = [220, 60]
  const values = points.map(([, value]) => value)
  const [low, high] = [smallest(values, 0), largest(values, 0)]
  const first = points[0]?.[0] ?? 0
  const span = Math.max(1, (points.at(-1)?.[0] ?? 0) - first)
  const xOf = (at: number) => round(((at - first) / span) * width)
  const yOf = (value: number) => round(2 + (1 - (value - low) / (high - low || 1)) * (height - 4))
  const path = points.map(([at, value], n) =>
    n === 0 ? `M${xOf(at)} ${yOf(value)}` : `H${xOf(at)}V${yOf(value)}`,
  )
  const zero =
    low < 0 ? html`<line class="zero" x1="0" x2="${width}" y1="${yOf(0)}" y2="${yOf(0)}"/>` : html``
  return pictureHtml({ width, height }, sentence, html`${zero}<path class="line" d="${path.join('')}"/>`)
}

/** Rows of cells, darker where more is. */
export function heatMap(
  rows: readonly { name: string; counts: readonly number[] }[],
  columns: readonly string[],
  sentence: string,
): Html {
  const [left, tall] = [150, 20]
  const width = 960
  const step = (width - left) / Math.max(1, columns.length)
  const most = largest(
    rows.flatMap(({ counts }) => counts),
    1,
  )
  const marks = rows.map(({ name, counts }, row) => {
    const cells = counts.map((count, at) =>
      count === 0
        ? html``
        : html`<rect class="heat" x="${round(left + at * step)}" y="${row * tall}" width="${round(Math.max(1, step - 1))}" height="${tall - 2}" opacity="${round(0.15 + 0.85 * Math.sqrt(count / most))}"><title>${name}, ${columns[at]}: ${grouped(count)}</title></rect>`,
    )
    return html`<text x="${left - 6}" y="${row * tall + 14}" class="end">${name}</text>${cells}`
  })
  return pictureHtml({ width, height: rows.length * tall }, sentence, html`${marks}`)
}
