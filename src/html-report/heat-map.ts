import { largest } from '../core/platform/extremes.ts'
import { type Area, round, timeAxis, timeScale } from './axes.ts'
import { svgHtml } from './charts.ts'
import { groupDigits, type Html, html } from './html.ts'

const [WIDTH, LEFT, RIGHT, ROW_HEIGHT] = [1184, 176, 1180, 20]

/** A cell of a heat map. Cells with a count of 0 are not drawn. */
type Cell = { x: number; width: number; count: number; title: string }
type Row = { name: string; cells: readonly Cell[] }

/** Draws rows of cells. The opacity of a cell grows with the square root of its count. */
function rowsOf(rows: readonly Row[], top: number): Html {
  const max = largest(
    rows.flatMap(({ cells }) => cells.map(({ count }) => count)),
    1,
  )
  const marks = rows.map(({ name, cells }, row) => {
    const y = top + row * ROW_HEIGHT
    const boxes = cells
      .filter(({ count }) => count > 0)
      .map(
        ({ x, width, count, title }) =>
          html`<rect class="heat" x="${round(x)}" y="${y}" width="${round(Math.max(1, width - 1))}" height="${ROW_HEIGHT - 2}" opacity="${round(0.15 + 0.85 * Math.sqrt(count / max))}"><title>${name}, ${title}: ${groupDigits(count)}</title></rect>`,
      )
    return html`<text x="${LEFT - 6}" y="${y + 14}" class="end">${name}</text>${boxes}`
  })
  return html`${marks}`
}

/** A period of a heat map, in milliseconds since 1970. */
export type HeatPeriod = { from: number; to: number; name: string }

/** A heat map over time, with one row per name. Periods without a count stay empty. */
export function timeHeatMap(
  rows: readonly { name: string; counts: readonly number[] }[],
  periods: readonly HeatPeriod[],
  description: string,
): Html {
  const bottom = rows.length * ROW_HEIGHT
  const area: Area = { left: LEFT, right: RIGHT, top: 0, bottom }
  const x = timeScale(periods[0]?.from ?? 0, periods.at(-1)?.to ?? 1, area)
  const cellsOf = (counts: readonly number[]) =>
    periods.map(({ from, to, name }, at) => ({
      x: x(from),
      width: x(to) - x(from),
      count: counts[at] ?? 0,
      title: name,
    }))
  const marks = rowsOf(
    rows.map(({ name, counts }) => ({ name, cells: cellsOf(counts) })),
    0,
  )
  return svgHtml({ width: WIDTH, height: bottom + 22 }, description, html`${marks}${timeAxis(x, area, 8)}`)
}

/** The largest width of a column of a matrix, and the height of the slanted names above. */
const [MAX_COLUMN, NAMES_HEIGHT] = [40, 110]

/** A heat map of counts between rows and columns, both with names. */
export function matrixHeatMap(
  rows: readonly { name: string; counts: readonly number[] }[],
  columns: readonly string[],
  description: string,
): Html {
  const step = Math.min(MAX_COLUMN, (RIGHT - NAMES_HEIGHT - LEFT) / Math.max(1, columns.length))
  const names = columns.map((name, at) => {
    const x = round(LEFT + (at + 0.5) * step)
    return html`<text x="${x}" y="${NAMES_HEIGHT - 6}" transform="rotate(-50 ${x} ${NAMES_HEIGHT - 6})">${name}</text>`
  })
  const cellsOf = (counts: readonly number[]) =>
    counts.map((count, at) => ({ x: LEFT + at * step, width: step, count, title: columns[at] ?? '' }))
  const marks = rowsOf(
    rows.map(({ name, counts }) => ({ name, cells: cellsOf(counts) })),
    NAMES_HEIGHT,
  )
  const height = NAMES_HEIGHT + rows.length * ROW_HEIGHT
  return svgHtml({ width: WIDTH, height }, description, html`${names}${marks}`)
}
