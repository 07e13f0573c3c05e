import { createHash } from 'node:crypto'
import { scaleBand, scaleUtc } from 'd3-scale'
import { line } from 'd3-shape'
import { ExportError } from '../core/model/errors.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { round, svgHtml, valueAxis } from './charts.ts'
import { type Html, html, shortName } from './html.ts'
import { textIn } from './messages/text.ts'
import { STYLE } from './style.ts'

type Cell = string | number | boolean | null | object

/** A table of which a chart is drawn: its first column against its columns of numbers. */
export type ChartTable = {
  columns: readonly { name: string; isNumber: boolean }[]
  rows: readonly (readonly Cell[])[]
}

/** A color for each column. */
const COLORS = ['#2563a8', '#c2571a', '#2f7d32', '#7a3fa0', '#a3841a', '#6b7280']
const PAGE_STYLE = `${STYLE}${COLORS.map((color, at) => `.line.q${at}{stroke:${color}}rect.q${at}{fill:${color}}`).join('')}`

/** The most rows of a chart of bars, and of one of lines. */
const MAX_BARS = 60
const MAX_POINTS = 5_000

const [WIDTH, HEIGHT, BELOW] = [880, 320, 90]

/**
 * Renders a page with a chart of a result, and its exact values: lines if the first column consists of days or times, else
 * bars. The page makes no requests and has no script.
 *
 * @throws ExportError USAGE if the result has no column of numbers after the first one, or too many rows
 */
export function renderQueryChart(title: string, { columns, rows }: ChartTable): string {
  const series = columns.flatMap(({ name, isNumber }, at) => (at > 0 && isNumber ? [{ name, at }] : []))
  if (series.length === 0 || series.length > COLORS.length)
    throw chartError(
      `a chart needs 1 to ${COLORS.length} columns of numbers after the first column, and the result has ${series.length}`,
      'Select what the chart shows, such as a day and a sum: select block_timestamp::date as day, sum(amount) as amount … group by 1 order by 1.',
    )
  const times = rows.map(([cell]) => (TIME.test(String(cell)) ? Date.parse(String(cell)) : Number.NaN))
  const isTime = rows.length > 0 && times.every((time) => !Number.isNaN(time))
  const most = isTime ? MAX_POINTS : MAX_BARS
  if (rows.length > most)
    throw chartError(
      `the result has ${rows.length} rows, and a chart of ${isTime ? 'lines' : 'bars'} shows ${most}`,
      `Group the rows, or add LIMIT ${most}.`,
    )
  const values = series.map(({ at }) => rows.map((row) => numberOf(row[at] ?? null)))
  const marks = isTime ? lines(times, values) : bars(rows, values)
  const svg = svgHtml({ width: WIDTH, height: HEIGHT }, `Chart of ${title}`, marks)
  const legend = series.map(
    ({ name }, layer) =>
      html`<span><svg width="10" height="10" aria-hidden="true"><rect class="q${layer}" width="10" height="10"/></svg> ${shortName(name)}</span> `,
  )
  const head = columns.map(({ name }) => html`<th>${name}</th>`)
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cellText(cell)}</td>`)}</tr>`)
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">${html`<title>${title}</title>`.text}
<style>${PAGE_STYLE}</style></head>
<body><main>${html`<section><h2>${title}</h2><div class="chart">${svg}</div><p>${legend}</p><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></section>`.text}</main></body></html>
`
}

const TIME = /^\d{4}-\d\d-\d\d([T ]|$)/

const chartError = (message: string, fix: string) => new ExportError('USAGE', message, { fix })

const cellText = (cell: Cell): string =>
  cell === null ? '' : typeof cell === 'object' ? JSON.stringify(cell) : String(cell)

/** For drawing only: the table has the exact values. */
function numberOf(cell: Cell): number {
  const value = Number(cell)
  return cell === null || !Number.isFinite(value) ? 0 : value
}

const axisOf = (values: readonly (readonly number[])[]) =>
  valueAxis(
    values.flat(),
    { width: WIDTH, bottom: HEIGHT - BELOW, count: 5 },
    textIn('en').messages.separators,
  )

function lines(times: readonly number[], values: readonly (readonly number[])[]): Html {
  const y = axisOf(values)
  const first = smallest(times, times[0] ?? 0)
  const last = largest(times, first)
  const x = scaleUtc([first, Math.max(last, first + 1)], [y.left, WIDTH - 8])
  const paths = values.map((points, layer) => {
    const path = line<number>()
      .x((_, at) => x(times[at] ?? first))
      .y((value) => y.at(value))
      .digits(1)([...points])
    return html`<path class="line q${layer}" d="${path ?? ''}"/>`
  })
  const labels = x.ticks(7).map((time) => {
    const iso = time.toISOString()
    const text = iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ')
    return html`<text class="middle" x="${round(x(time))}" y="${HEIGHT - BELOW + 18}">${text}</text>`
  })
  return html`${y.grid}${paths}${labels}`
}

function bars(rows: readonly (readonly Cell[])[], values: readonly (readonly number[])[]): Html {
  const y = axisOf(values)
  const groups = scaleBand(
    rows.map((_, row) => row),
    [y.left, WIDTH],
  ).padding(0.2)
  const width = groups.bandwidth() / values.length
  const marks = rows.map((row, at) => {
    const start = groups(at) ?? 0
    const parts = values.map((layer, index) => {
      const [zero, end] = [y.at(0), y.at(layer[at] ?? 0)]
      return html`<rect class="q${index}" x="${round(start + index * width)}" width="${round(width)}" y="${Math.min(zero, end)}" height="${round(Math.abs(end - zero))}"/>`
    })
    const [place, below] = [round(start + groups.bandwidth() / 2), HEIGHT - BELOW + 12]
    const label = shortName(cellText(row[0] ?? null), 14)
    return html`${parts}<text class="end" transform="rotate(-45 ${place} ${below})" x="${place}" y="${below}">${label}</text>`
  })
  return html`${y.grid}${marks}`
}
