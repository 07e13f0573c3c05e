import type { ItemKey } from '../core/model/item-key.ts'

/**
 * The time of a block; undefined if neither field contains one. Milliseconds are used only if they are within
 * the second of `blockTimestamp`: some services send 0, or the time of another block, for blocks older than
 * the field. They are used alone only if `blockTimestamp` is not a time and they are not 0.
 */
export function timesOf(
  seconds: number | undefined,
  ms: number | undefined,
): Pick<ItemKey, 'timeMs' | 'lastMs' | 'second'> | undefined {
  const second = seconds ?? Math.floor((ms || Number.NaN) / 1000)
  const isWithin = ms !== undefined && Math.floor(ms / 1000) === second
  const timeMs = isWithin ? ms : second * 1000
  return timeMs <= TIME_MAX ? { timeMs, lastMs: isWithin ? ms : timeMs + 999, second } : undefined
}

export const INT32_MAX = 2 ** 31 - 1

/** 9999-12-31T23:59:59.999Z: the last instant that can be written with a four-digit year. */
export const TIME_MAX = 253_402_300_799_999

/** A whole number as a JSON number or as digits; undefined for any other value. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}
