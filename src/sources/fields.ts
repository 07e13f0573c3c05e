import type { ItemKey } from '../core/model/item-key.ts'
import { type ByteText, toLowerCase, toValue, toWellFormed } from '../core/platform/byte-text.ts'
import { jsonText, previewJson } from '../core/platform/json-text.ts'

/** States which field prevents a record from being normalized. Caught where rejects are collected. */
export class RejectError extends Error {}

/** An object in an item. Its strings are byte strings. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * The value at `name`. Records of each listing have a shape of their own: V8 compiles code that names a field again for each
 * of the first shapes that it meets, but this function once.
 */
export const valueAt = (from: Fields, name: string): unknown => from[name]

/** The object at `name`, or an empty one if it is absent or null. Throws RejectError for any other value. */
export function objectAt(from: Fields, name: string): Fields {
  const value = from[name]
  if (value === undefined || value === null) return EMPTY
  if (!isObject(value)) throw invalidField(name, value, 'an object')
  return value
}

/** The object at `name`, or an empty one for any other value: for objects whose fields only describe a record. */
export function optionalObjectAt(from: Fields, name: string): Fields {
  const value = from[name]
  return isObject(value) ? value : EMPTY
}

const EMPTY: Fields = {}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a field is absent, null or empty text. */
export function isAbsent(from: Fields, name: string): boolean {
  const value = from[name]
  return value === undefined || value === null || value === ''
}

/** Text; null if it is absent, empty, an object or a list. Numbers and booleans become text. */
export function textAt(from: Fields, name: string): ByteText | null {
  const value = from[name]
  if (typeof value === 'object') return null
  return jsonTextAt(from, name)
}

/** Text; null if absent or empty. Any other JSON value as its JSON text. */
export function jsonTextAt(from: Fields, name: string): ByteText | null {
  const value = from[name]
  if (isAbsent(from, name)) return null
  return toWellFormed(typeof value === 'string' ? value : jsonText(value))
}

/** Lower-case text (addresses, hashes); null if absent or empty. */
export function lowerAt(from: Fields, name: string): ByteText | null {
  const text = textAt(from, name)
  return text === null ? null : toLowerCase(text)
}

/** Lower-case text. Throws RejectError if it is absent, empty or not text. */
export function requiredLower(from: Fields, name: string): ByteText {
  return toLowerCase(requiredText(from, name))
}

/** Text. Throws RejectError if it is absent, empty or not text. */
export function requiredText(from: Fields, name: string): ByteText {
  const value = from[name]
  if (typeof value !== 'string' || value === '') throw invalidField(name, value, 'text')
  return toWellFormed(value)
}

/** `digits`: numbers with at most this many digits are always within the limits. */
const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n, digits: 9, description: 'an int32' }
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n, digits: 18, description: 'an int64' }
const U256 = {
  min: 0n,
  max: 2n ** 256n - 1n,
  digits: 77,
  description: 'a whole number of at most 256 bits',
}

/** A 32-bit integer; null if there is none. */
export function int32At(from: Fields, name: string): number | null {
  const value = from[name]
  if (typeof value === 'number' && (value | 0) === value) return value
  const digits = integerAt(from, name, INT32)
  return digits === null ? null : Number(digits)
}

export function requiredInt32(from: Fields, name: string): number {
  const value = int32At(from, name)
  if (value === null) throw invalidField(name, from[name], INT32.description)
  return value
}

/** A 64-bit integer: a number if that is exact, otherwise its digits; null if there is none. */
export function int64At(from: Fields, name: string): number | string | null {
  const digits = integerAt(from, name, INT64)
  if (digits === null) return null
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

/** A 256-bit unsigned integer as its digits; null if there is none. */
export function u256At(from: Fields, name: string): string | null {
  return integerAt(from, name, U256)
}

export function requiredU256(from: Fields, name: string): string {
  const value = u256At(from, name)
  if (value === null) throw invalidField(name, from[name], U256.description)
  return value
}

const U64 = { min: 0n, max: 2n ** 64n - 1n, digits: 19, description: 'a whole number of at most 64 bits' }

export function requiredU64(from: Fields, name: string): string {
  const value = integerAt(from, name, U64)
  if (value === null) throw invalidField(name, from[name], U64.description)
  return value
}

type Limits = { min: bigint; max: bigint; digits: number; description: string }

/**
 * Digits without leading zeros; null if the value is not an integer within the limits. JSON numbers above
 * 2^53 are rejected, because parsing has lost digits.
 */
function integerAt(from: Fields, name: string, limits: Limits): string | null {
  const value = from[name]
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,200}$/.test(text)) return null
  if (text.length <= limits.digits && text[0] !== '0' && text[0] !== '-') return text
  const integer = BigInt(text)
  return integer < limits.min || integer > limits.max ? null : integer.toString()
}

/** A boolean in any known spelling; undefined for any other value. */
export function boolAt(from: Fields, name: string): boolean | undefined {
  const value = from[name]
  if (typeof value === 'boolean') return value
  const text = String(typeof value === 'object' ? '' : value).toLowerCase()
  return TRUE_SPELLINGS.has(text) ? true : FALSE_SPELLINGS.has(text) ? false : undefined
}

const TRUE_SPELLINGS: ReadonlySet<string> = new Set(['true', '1', '0x1'])
const FALSE_SPELLINGS: ReadonlySet<string> = new Set(['false', '0', '0x0'])

/**
 * A time in milliseconds since 1970; null if there is none before the year 10000. The interface states no
 * unit, so values from 1e11 on (the year 5138 in seconds) are taken as milliseconds.
 */
export function timeAt(from: Fields, name: string): number | null {
  const digits = integerAt(from, name, INT64)
  if (digits === null) return null
  const ms = Number(digits) < 1e11 ? Number(digits) * 1000 : Number(digits)
  return ms < 0 || ms > TIME_MAX ? null : ms
}

/** The list at `name`; empty if it is absent, null or empty text. Throws RejectError for any other value. */
export function listAt(from: Fields, name: string): readonly unknown[] {
  const value = from[name]
  if (isAbsent(from, name)) return NONE
  if (!Array.isArray(value)) throw invalidField(name, value, 'a list')
  return value
}

const NONE: readonly unknown[] = []

/** The error for an invalid field. */
function invalidField(name: string, value: unknown, expected: string): RejectError {
  return new RejectError(`${name} is not ${expected}: ${previewJson(toValue(value))}`)
}

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
const TIME_MAX = 253_402_300_799_999

/** A whole number as a JSON number or as digits; undefined for any other value. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined
}
