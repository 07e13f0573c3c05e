import type { Command } from 'commander'
import { optionFault } from '../../core/model/option-error.ts'
import { durationMs } from '../../job/fields/duration.ts'

type Bounds = { least?: number; most?: number }

/** A whole number that an option was given; undefined where it was not. Throws USAGE. */
export function readCount(
  option: string,
  text: string | undefined,
  { least = 1, most = 1e15 }: Bounds = {},
): number | undefined {
  if (text === undefined) return undefined
  if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  const range = most === 1e15 ? `from ${least}` : `from ${least} to ${most}`
  throw optionFault(option, { found: text, expected: `a whole number ${range}` })
}

/** A number that an option was given; undefined where it was not. Throws USAGE. */
export function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  throw optionFault(option, { found: text, expected: 'a number such as 2 or 0.5' })
}

/** Milliseconds that an option was given as a duration above 0; undefined where it was not. Throws USAGE. */
export function readDuration(option: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : durationMs(text)
  if (text === undefined || (ms !== undefined && ms > 0)) return ms
  throw optionFault(option, { found: text, expected: 'a duration such as 90s, 10m or 2h' })
}

/** How far a command goes. */
export type BoundArguments = { maxRequests?: string | undefined; deadline?: string | undefined }

/** The options of that. */
export function boundOptions(command: Command): Command {
  return command
    .option('--max-requests <n>', 'Stop after this many requests, with exit code 9 (resumable)')
    .option(
      '--deadline <duration>',
      'Stop after this time, such as 90s, 10m or 2h, with exit code 9 (resumable)',
    )
}

/** Throws USAGE. */
export function readBounds({ maxRequests, deadline }: BoundArguments) {
  return {
    maxRequests: readCount('max-requests', maxRequests),
    deadlineMs: readDuration('deadline', deadline),
  }
}
