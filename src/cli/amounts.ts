import { ExportError } from '../errors.ts'
import { durationMs } from '../job/duration.ts'

type Bounds = { least?: number; most?: number }

/** A whole number that an option was given; undefined where it was not. Throws USAGE. */
export function readCount(
  option: string,
  text: string | undefined,
  { least = 1, most = 1e15 }: Bounds = {},
): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  const range = most === 1e15 ? `from ${least}` : `from ${least} to ${most}`
  throw new ExportError('USAGE', `--${option}: found ${text}, expected a whole number ${range}`)
}

/** Milliseconds that an option was given as a duration above 0; undefined where it was not. Throws USAGE. */
export function readDuration(option: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : durationMs(text)
  if (text === undefined || (ms !== undefined && ms > 0)) return ms
  throw new ExportError('USAGE', `--${option}: found ${text}, expected a duration such as 90s, 10m or 2h`)
}
