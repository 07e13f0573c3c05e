import { LOOKBACK_BLOCKS, LOOKBACK_MS } from '../../core/model/lookback.ts'
import { optionError } from '../../core/model/option-error.ts'
import { durationMs } from '../../job/fields/field-types.ts'
import { defineOptions, type OptionValues } from '../command.ts'

type CountLimits = { min?: number; max?: number }

/** Parses the value of an option as a whole number; undefined if the option is not given. Throws USAGE. */
export function readCount(
  option: string,
  text: string | undefined,
  { min = 1, max = 1e15 }: CountLimits = {},
): number | undefined {
  if (text === undefined) return undefined
  if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  const range = max === 1e15 ? `from ${min}` : `from ${min} to ${max}`
  throw optionError(option, { found: text, expected: `a whole number ${range}` })
}

/** Parses the value of an option as a decimal number; undefined if the option is not given. Throws USAGE. */
export function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  throw optionError(option, { found: text, expected: 'a number such as 2 or 0.5' })
}

/** Parses the value of an option as a duration above 0, in milliseconds; undefined if it is not given. Throws USAGE. */
export function readDuration(option: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : durationMs(text)
  if (text === undefined || (ms !== undefined && ms > 0)) return ms
  throw optionError(option, { found: text, expected: 'a duration such as 90s, 10m or 2h' })
}

/** Parses the value of `--lookback`: a number of blocks, or a duration. Throws USAGE. */
export function readLookback(text: string | undefined): { lookbackBlocks?: number; lookbackMs?: number } {
  if (text === undefined) return {}
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return { lookbackBlocks: Number(text) }
  const lookbackMs = durationMs(text)
  if (lookbackMs !== undefined && lookbackMs > 0) return { lookbackMs }
  throw optionError('lookback', {
    found: text,
    expected: 'a number of blocks such as 200, or a duration such as 30m',
  })
}

/** The description of `--lookback`. */
export const LOOKBACK_TEXT = `Read and rewrite the end of the previous run: blocks or a duration (default: read ${LOOKBACK_BLOCKS} blocks and ${LOOKBACK_MS / 60_000} minutes, rewrite if they changed)`

/** Options that limit the requests and the time of a run. */
export const runLimitOptions = defineOptions([
  {
    name: 'max-requests',
    value: '<n>',
    description: 'Stop after this many requests, with exit code 9 (resumable)',
  },
  {
    name: 'deadline',
    value: '<duration>',
    description: 'Stop after this time, such as 90s, 10m or 2h, with exit code 9 (resumable)',
  },
])

export type RunLimitArguments = OptionValues<typeof runLimitOptions>

/** Throws USAGE. */
export function readRunLimits({ maxRequests, deadline }: RunLimitArguments) {
  return {
    maxRequests: readCount('max-requests', maxRequests),
    deadlineMs: readDuration('deadline', deadline),
  }
}
