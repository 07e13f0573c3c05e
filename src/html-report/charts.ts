import { type ScaleTime, scaleUtc } from 'd3-scale'
import { area, line, stack } from 'd3-shape'
import { DAY_MS } from '../core/model/utc.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { type Html, html } from './html.ts'
import type { Text } from './messages/text.ts'
import { formatNumber, type Separators } from './numbers.ts'

export const round = (n: number) => Math.round(n * 10) / 10

type Size = { width: number; height: number }

/** An SVG image. `description` is its text alternative for screen readers. */
export function svgHtml({ width, height }: Size, description: string, marks: Html): Html {
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${description}">${marks}</svg>`
}

/**
 * Values at the ends of days (in days since 1970), stacked by layer from the bottom; without layers, a line. `isOld` days
 * are dashed.
 */
export type DayChart = {
  days: readonly number[]
  totals: readonly number[]
  layers?: readonly (readonly number[])[]
  isOld?: readonly boolean[]
  description: string
}

/** The most layers of a chart: the style sheet has a shade for each. */
export const MAX_LAYERS = 6

const SIZES = {
  wide: { width: 880, height: 250 },
  narrow: { width: 320, height: 190 },
  small: { width: 260, height: 110 },
} as const

/** The chart for wide screens and print, and the one for phones. The style sheet shows one of them. */
export const dayChart = (chart: DayChart, text: Text): Html =>
  html`<div class="chart wide">${drawDays(chart, 'wide', text)}</div><div class="chart narrow">${drawDays(chart, 'narrow', text)}</div>`

export const smallDayChart = (chart: DayChart, text: Text): Html => drawDays(chart, 'small', text)

/** Width of a character of the labels: the widest of the usual fonts. */
const CHARACTER_WIDTH = 7
const [GAP, TOP, BELOW] = [8, 12, 24]

function drawDays(chart: DayChart, size: keyof typeof SIZES, text: Text): Html {
  const { width, height } = SIZES[size]
  const { separators } = text.messages
  const { days, totals, layers = [], isOld = [] } = chart
  const y = valueAxis(totals, { width, bottom: height - BELOW, count: size === 'small' ? 2 : 4 }, separators)
  const { left } = y
  const [first = 0, last = 1] = [days[0], days.at(-1)]
  const x = scaleUtc([first * DAY_MS, Math.max(last, first + 1) * DAY_MS], [left, width - 4])
  const at = (day: number) => round(x((days[day] ?? 0) * DAY_MS))
  const indexes = days.map((_, day) => day)
  const areas = stack<number, number>()
    .keys(layers.map((_, layer) => layer))
    .value((day, layer) => layers[layer]?.[day] ?? 0)(indexes)
    .map((points, layer) => {
      const path = area<(typeof points)[number]>()
        .x((_, day) => at(day))
        .y0(([low]) => y.at(low))
        .y1(([, high]) => y.at(high))
        .digits(1)(points)
      return html`<path class="layer s${layer}" d="${path ?? ''}"/>`
    })
  const pathOf = (isDrawn: (day: number) => boolean) =>
    line<number>()
      .defined(isDrawn)
      .x(at)
      .y((day) => y.at(totals[day] ?? 0))
      .digits(1)(indexes) ?? ''
  // Neighbours of old days are part of both lines, so that there is no gap between them.
  const solid = pathOf((day) => !isOld[day])
  const dashed = pathOf(
    (day) => Boolean(isOld[day] || isOld[day + 1] || isOld[day - 1]) && isOld.includes(true),
  )
  const marks = html`${y.grid}${timeAxis(x, { left, right: width, bottom: height - BELOW }, text)}${areas}<path class="line" d="${solid}"/><path class="line old" d="${dashed}"/>`
  return svgHtml({ width, height }, chart.description, marks)
}

type ValueAxis = { width: number; bottom: number; count: number }

/** A scale of values, its lines with labels at their left, and where these end. */
export function valueAxis(
  values: readonly number[],
  { width, bottom, count }: ValueAxis,
  separators: Separators,
) {
  const { ticks, at } = valueScale(values, { top: TOP, bottom, count })
  const labels = ticks.map((value) => formatTick(value, separators))
  const lengths = labels.map(({ length }) => length)
  const left = largest(lengths, 1) * CHARACTER_WIDTH + GAP + 4
  const lines = ticks.map((value, tick) => {
    const place = at(value)
    return html`<line class="${value === 0 ? 'axis' : 'grid'}" x1="${left}" x2="${width}" y1="${place}" y2="${place}"/><text class="end" x="${left - GAP}" y="${place + 4}">${labels[tick]}</text>`
  })
  return { at, left, grid: html`${lines}` }
}

/** A scale from zero, or from the lowest value if that is negative, and its ticks. */
function valueScale(
  values: readonly number[],
  { top, bottom, count }: { top: number; bottom: number; count: number },
) {
  const [low, high] = [smallest(values, 0), largest(values, 0)]
  const span = high - low || 1
  const magnitude = 10 ** Math.floor(Math.log10(span / count))
  const step = magnitude * ([1, 2, 5, 10].find((factor) => (factor * magnitude * count) / span >= 1) ?? 10)
  const [from, to] = [Math.floor(low / step), Math.max(Math.ceil(high / step), Math.floor(low / step) + 1)]
  const ticks = Array.from({ length: to - from + 1 }, (_, tick) => (from + tick) * step)
  const at = (value: number) => round(bottom - ((value / step - from) / (to - from)) * (bottom - top))
  return { ticks, at }
}

const UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Formats the value of a tick: `2.5k`, `12M`, `3e+21`. */
function formatTick(value: number, separators: Separators): string {
  const size = Math.abs(value)
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(0).replace('-', '−')
  const [factor, unit] = UNITS.find(([least]) => size >= least) ?? [1, '']
  return `${formatNumber(String(Number((value / factor).toPrecision(4))), separators)}${unit}`
}

type Axis = { left: number; right: number; bottom: number }

/** Days, months or years below a chart, as many as have room. The first one of a year names the year. */
function timeAxis(x: ScaleTime<number, number>, { left, right, bottom }: Axis, text: Text): Html {
  let [end, year] = [Number.NEGATIVE_INFINITY, '']
  const marks = x.ticks(Math.max(2, Math.floor((right - left) / 110))).map((time) => {
    const iso = time.toISOString()
    if (!iso.endsWith('T00:00:00.000Z')) return html``
    const place = round(x(time))
    const label = tickLabel(iso, iso.slice(0, 4) !== year, text)
    const half = (label.length * CHARACTER_WIDTH) / 2
    const middle = Math.min(Math.max(place, half), right - half)
    if (middle - half < end + GAP) return html``
    end = middle + half
    year = iso.slice(0, 4)
    return html`<line class="grid" x1="${place}" x2="${place}" y1="${bottom}" y2="${bottom + 4}"/><text class="middle" x="${round(middle)}" y="${bottom + 17}">${label}</text>`
  })
  return html`${marks}`
}

function tickLabel(iso: string, namesYear: boolean, text: Text): string {
  const [, month, day] = iso.slice(0, 10).split('-')
  if (month === '01' && day === '01') return iso.slice(0, 4)
  const label = day === '01' ? text.month(iso) : text.day(iso)
  return namesYear ? label : label.replace(/[ ,.]*\d{4}$/, '')
}

/** A bar of shares of 1, in the shades of the layers. Scales with its width. */
export function shareBar(shares: readonly number[], description: string): Html {
  let from = 0
  const parts = shares.map((share, at) => {
    const [x, width] = [from, Math.max(0, share * 1000)]
    from += width
    return html`<rect class="layer s${at}" x="${round(x)}" width="${round(width)}" height="10"/>`
  })
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="${description}">${parts}</svg>`
}

/** A square in the shade of a layer, for legends. */
export const swatch = (layer: number): Html =>
  html`<svg class="swatch" width="10" height="10" aria-hidden="true"><rect class="layer s${layer}" width="10" height="10" rx="2"/></svg>`
