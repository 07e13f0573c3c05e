/** Milliseconds of a duration such as `500ms`, `90s`, `10m`, `1h`, `2d`; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text) ?? []
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit]
  return unitMs === undefined ? undefined : Number(count) * unitMs
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
