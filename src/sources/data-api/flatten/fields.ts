import { type ByteText, toLowerCase, toValue, toWellFormed } from '../../../core/platform/byte-text.ts'
import { jsonText, previewJson } from '../../../core/platform/json-text.ts'
import { TIME_MAX } from '../parse-item-key.ts'

/** Says which field of a record keeps it from being normalized; caught where the record is set aside. */
export class RejectError extends Error {}

/** An object of an item; its strings are bytes. */
export type Fields = Readonly<Record<string, unknown>>

/** The object at `name`, or an empty one where it is absent or null. Throws RejectError for anything else. */
export function objectAt(from: Fields, name: string): Fields {
  const value = from[name]
  if (value === undefined || value === null) return EMPTY
  if (!isObject(value)) throw invalidField(name, value, 'an object')
  return value
}

/** The object at `name`, or an empty one where there is none: for objects whose fields only describe a record. */
export function optionalObjectAt(from: Fields, name: string): Fields {
  const value = from[name]
  return isObject(value) ? value : EMPTY
}

const EMPTY: Fields = {}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a field is absent, null or empty text. */
export function isAbsent(from: Fields, name: string): boolean {
  const value = from[name]
  return value === undefined || value === null || value === ''
}

/** Text, null where absent or empty, and where an object or a list stands in its place. Numbers and booleans become text. */
export function textAt(from: Fields, name: string): ByteText | null {
  const value = from[name]
  if (typeof value === 'object') return null
  return jsonTextAt(from, name)
}

/** Text, null where absent or empty; any other JSON value as its JSON text. */
export function jsonTextAt(from: Fields, name: string): ByteText | null {
  const value = from[name]
  if (isAbsent(from, name)) return null
  return toWellFormed(typeof value === 'string' ? value : jsonText(value))
}

/** Text in lower case (addresses, hashes), null where absent or empty. */
export function lowerAt(from: Fields, name: string): ByteText | null {
  const text = textAt(from, name)
  return text === null ? null : toLowerCase(text)
}

/** Text in lower case that must be there. */
export function requiredLower(from: Fields, name: string): ByteText {
  const value = from[name]
  if (typeof value !== 'string' || value === '') throw invalidField(name, value, 'text')
  return toLowerCase(value)
}

/** `digits`: as many always fit. */
const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n, digits: 9, description: 'an int32' }
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n, digits: 18, description: 'an int64' }
export const U256 = {
  min: 0n,
  max: 2n ** 256n - 1n,
  digits: 77,
  description: 'a whole number of at most 256 bits',
}

/** A whole number of 32 bits; null where there is none. */
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

/** A whole number of 64 bits: a number where that is exact, else its digits; null where there is none. */
export function int64At(from: Fields, name: string): number | string | null {
  const digits = integerAt(from, name, INT64)
  if (digits === null) return null
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

/** A whole number of 256 bits as its digits; null where there is none. */
export function u256At(from: Fields, name: string): string | null {
  return integerAt(from, name, U256)
}

export function requiredU256(from: Fields, name: string): string {
  const value = u256At(from, name)
  if (value === null) throw invalidField(name, from[name], U256.description)
  return value
}

type Limits = { min: bigint; max: bigint; digits: number; description: string }

/**
 * Digits without leading zeros; null where the value is not a whole number within the limits. A JSON number beyond 2^53 has
 * lost digits on its way here, so it is none.
 */
function integerAt(from: Fields, name: string, limits: Limits): string | null {
  const value = from[name]
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,200}$/.test(text)) return null
  if (text.length <= limits.digits && text[0] !== '0' && text[0] !== '-') return text
  const integer = BigInt(text)
  return integer < limits.min || integer > limits.max ? null : integer.toString()
}

/** True or false in any of its spellings; undefined where the value is neither. */
export function boolAt(from: Fields, name: string): boolean | undefined {
  const value = from[name]
  if (typeof value === 'boolean') return value
  const text = String(typeof value === 'object' ? '' : value).toLowerCase()
  return TRUE_SPELLINGS.has(text) ? true : FALSE_SPELLINGS.has(text) ? false : undefined
}

const TRUE_SPELLINGS: ReadonlySet<string> = new Set(['true', '1', '0x1'])
const FALSE_SPELLINGS: ReadonlySet<string> = new Set(['false', '0', '0x0'])

/**
 * An instant in milliseconds since 1970; null where there is none before the year 10000. The interface gives no unit: what
 * would be after the year 5000 is in milliseconds.
 */
export function timeAt(from: Fields, name: string): number | null {
  const digits = integerAt(from, name, INT64)
  if (digits === null) return null
  const ms = Number(digits) < 1e11 ? Number(digits) * 1000 : Number(digits)
  return ms < 0 || ms > TIME_MAX ? null : ms
}

/** The list at `name`, empty where it is absent, null or empty text. Throws RejectError for anything else. */
export function listAt(from: Fields, name: string): readonly unknown[] {
  const value = from[name]
  if (isAbsent(from, name)) return NONE
  if (!Array.isArray(value)) throw invalidField(name, value, 'a list')
  return value
}

const NONE: readonly unknown[] = []

/** The error for a field that does not fit. */
function invalidField(name: string, value: unknown, expected: string): RejectError {
  return new RejectError(`${name} is not ${expected}: ${previewJson(toValue(value))}`)
}
