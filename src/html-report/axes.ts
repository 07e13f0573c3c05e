import { type ScaleLinear, type ScaleTime, scaleLinear, scaleUtc } from 'd3-scale'
import { largest, smallest } from '../core/platform/extremes.ts'
import { groupDigits, type Html, html } from './html.ts'

export type ValueScale = ScaleLinear<number, number>
export type TimeScale = ScaleTime<number, number>

/** The area of a chart within its image, in pixels. */
export type Area = { left: number; right: number; top: number; bottom: number }

export const round = (n: number) => Math.round(n * 100) / 100

/** A scale from zero, or from the lowest value if that is negative, whose ends are ticks. */
export function valueScale(values: readonly number[], { top, bottom }: Area, ticks: number): ValueScale {
  const high = largest(values, 0)
  const low = smallest(values, 0)
  return scaleLinear([low, high === low ? low + 1 : high], [bottom, top]).nice(ticks)
}

/** Width of a character of a tick's value: the widest of the usual fonts. */
const CHARACTER_WIDTH = 7

/** The area without the room that the values of the ticks need on the left. */
export function fitValues(area: Area, scale: ValueScale, ticks: number): Area {
  const lengths = scale.ticks(ticks).map((value) => formatTickValue(value).length)
  return { ...area, left: Math.max(area.left, GAP + CHARACTER_WIDTH * largest(lengths, 0)) }
}

/** The gap between the values of the ticks and the lines. */
const GAP = 6

/** A UTC calendar scale for times in milliseconds since 1970. */
export const timeScale = (from: number, to: number, { left, right }: Area): TimeScale =>
  scaleUtc([from, to], [left, right])

/** Grid lines with the values of the ticks beside them. */
export function valueAxis(scale: ValueScale, { left, right }: Area, ticks: number): Html {
  const marks = scale.ticks(ticks).map((value) => {
    const y = round(scale(value))
    return html`<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" class="grid"/><text x="${left - GAP}" y="${y + 4}" class="end">${formatTickValue(value)}</text>`
  })
  return html`${marks}`
}

/** Dates and times of the ticks below a chart. The first one is complete. */
export function timeAxis(scale: TimeScale, { left, right, bottom }: Area, ticks: number): Html {
  const marks = scale.ticks(ticks).map((at, index) => {
    const x = round(scale(at))
    const isNearEdge = x < left + EDGE / 2 || x > right - EDGE / 4
    const label = isNearEdge && index > 0 ? '' : formatTickTime(at, index === 0)
    return html`<line x1="${x}" x2="${x}" y1="${bottom}" y2="${bottom + 4}" class="tick"/><text x="${Math.max(x, left + EDGE / 2)}" y="${bottom + 16}" class="middle">${label}</text>`
  })
  return html`${marks}`
}

/** Width of a complete date, which must not be cut off at the edges. */
const EDGE = 70

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function formatTickTime(at: Date, isFirst: boolean): string {
  const iso = at.toISOString()
  const isMidnight = iso.slice(11, 19) === '00:00:00'
  if (isFirst) return isMidnight ? iso.slice(0, 10) : iso.slice(0, 16).replace('T', ' ')
  if (!isMidnight) return iso.slice(11, 16)
  const month = MONTHS[at.getUTCMonth()] ?? ''
  if (at.getUTCDate() > 1) return `${at.getUTCDate()} ${month}`
  return at.getUTCMonth() === 0 ? iso.slice(0, 4) : month
}

const UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
] as const

/** Formats the value of a tick: `2 500`, `12M`, `3e+21`. */
function formatTickValue(value: number): string {
  const size = Math.abs(value)
  const sign = value < 0 ? '−' : ''
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return sign + size.toExponential()
  const [factor, unit] = UNITS.find(([least]) => size >= least) ?? [1, '']
  const [whole = '', fraction] = String(Number((size / factor).toPrecision(6))).split('.')
  return `${sign}${groupDigits(whole)}${fraction === undefined ? '' : `.${fraction}`}${unit}`
}
