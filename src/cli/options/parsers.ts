import { LOOKBACK_BLOCKS, LOOKBACK_MS } from '../../core/model/lookback.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { Endpoint } from '../../core/platform/http-server.ts'
import { durationMs } from '../../job/fields/field-types.ts'
import { option } from '../command.ts'

type CountLimits = { min?: number; max?: number }

/** Returns a parser of whole numbers, which throws USAGE. */
export function count({ min = 1, max = 1e15 }: CountLimits = {}) {
  return (text: string, name: string): number => {
    if (/^(0|[1-9]\d{0,14})$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
    const range = max === 1e15 ? `from ${min}` : `from ${min} to ${max}`
    throw optionError(name, { found: text, expected: `a whole number ${range}` })
  }
}

/** Parses a decimal number. Throws USAGE. */
export function decimal(text: string, name: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  throw optionError(name, { found: text, expected: 'a number such as 2 or 0.5' })
}

/** Parses a duration above 0, in milliseconds. Throws USAGE. */
export function duration(text: string, name: string): number {
  const ms = durationMs(text)
  if (ms !== undefined && ms > 0) return ms
  throw optionError(name, { found: text, expected: 'a duration such as 90s, 10m or 2h' })
}

/** Returns a parser of addresses to listen on: `host:port`, `[::1]:port`, or a port of 127.0.0.1. It throws USAGE. */
export function endpoint({ example, fix }: { example: string; fix: string }) {
  return (text: string, name: string): Endpoint => {
    const [, bracketed, plain, digits = ''] =
      /^(?:(?:\[([^\]]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/.exec(text) ?? []
    const port = Number(digits)
    if (digits !== '' && port <= 65_535) return { host: bracketed ?? plain ?? '127.0.0.1', port }
    throw optionError(name, { found: text, expected: `an address and a port: ${example}`, fix })
  }
}

/**
 * Parses the URL at which the service reaches this machine, and removes trailing slashes. Throws USAGE; the message does not
 * show credentials or queries.
 */
export function receiverUrl(text: string, name: string): string {
  if (/^https?:\/\/[^\s?#@\\]+$/i.test(text) && URL.canParse(text))
    return new URL(text).href.replace(/\/+$/, '')
  throw optionError(name, {
    found: /[@?#]/.test(text) ? 'a URL with credentials or a query (not shown)' : text,
    expected: 'an http or https URL without user, password, query and #',
    fix: 'Give the public address that leads to --listen, like https://me.example/hook.',
  })
}

/** What a run reads again: a number of blocks, or a duration. */
export const lookbackOption = option(
  'lookback <blocks|duration>',
  `Read and rewrite the end of the previous run: blocks or a duration (default: read ${LOOKBACK_BLOCKS} blocks and ${LOOKBACK_MS / 60_000} minutes, rewrite if they changed)`,
  { parse: parseLookback },
)

function parseLookback(text: string): { lookbackBlocks?: number; lookbackMs?: number } {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return { lookbackBlocks: Number(text) }
  const lookbackMs = durationMs(text)
  if (lookbackMs !== undefined && lookbackMs > 0) return { lookbackMs }
  const expected = 'a number of blocks such as 200, or a duration such as 30m'
  throw optionError('lookback', { found: text, expected })
}

/** Options that limit the requests and the time of a run. */
export const runLimitOptions = [
  option('max-requests <n>', 'Stop after this many requests, with exit code 9 (resumable)', {
    parse: count(),
  }),
  option(
    'deadline <duration>',
    'Stop after this time, such as 90s, 10m or 2h, with exit code 9 (resumable)',
    { parse: duration },
  ),
]
