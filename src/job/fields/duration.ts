import * as v from 'valibot'
import { textOf } from '../resolve/raw-value.ts'
import { type FieldType, fieldType } from './field-type.ts'

/** Parses a duration such as `500ms`, `90s`, `10m`, `1h` or `2d` to milliseconds; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text) ?? []
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit]
  return unitMs === undefined ? undefined : Number(count) * unitMs
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration such as `90s`, from `min` to `max`, inclusive. */
export function duration(min: string, max: string): FieldType<number, string> {
  const [minMs = 0, maxMs = 0] = [durationMs(min), durationMs(max)]
  return fieldType({
    schema: { type: 'string', pattern: `^${minMs > 0 ? '0*[1-9]\\d*' : '\\d+'}(ms|s|m|h|d)$` },
    parsed: v.pipe(v.number(), v.integer(), v.minValue(minMs), v.maxValue(maxMs)),
    expected: `a duration from ${min} to ${max}, like 500ms, 90s, 10m, 1h or 2d`,
    accept: ({ value }) => {
      const ms = typeof value === 'string' ? durationMs(value) : undefined
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined
    },
    suggest: (raw) => suggestDuration(textOf(raw) ?? ''),
  })
}

/** Suggests a duration for a number without a unit (seconds) or with the unit spelled out. */
function suggestDuration(text: string): string | undefined {
  const [, count, unit = 's'] = /^(\d{1,9})\s*([a-z]+)?$/i.exec(text) ?? []
  const matchedUnit = Object.entries(UNIT_PATTERNS).find(([, pattern]) => pattern.test(unit))?.[0]
  return count === undefined || matchedUnit === undefined || `${count}${matchedUnit}` === text
    ? undefined
    : `${count}${matchedUnit}`
}

const UNIT_PATTERNS: Readonly<Record<string, RegExp>> = {
  ms: /^(ms|milli(second)?s?)$/i,
  s: /^(s|secs?|seconds?)$/i,
  m: /^(m|mins?|minutes?)$/i,
  h: /^(h|hrs?|hours?)$/i,
  d: /^(d|days?)$/i,
}
