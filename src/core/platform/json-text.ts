import { MAX_JSON_DEPTH } from '../model/limits.ts'
import { isTooDeep } from './check-json-size.ts'

/**
 * Writes a parsed JSON value as `JSON.stringify` does, however deep it is: that one calls itself for every level and ends
 * with a RangeError after some thousands, while `JSON.parse` reads any number of them.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (thrown) {
    if (thrown instanceof RangeError) return writeJson(value)
    throw thrown
  }
}

/** The value that a text holds as JSON; undefined where it is none, or has more levels than is allowed. */
export function parseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why `parseJson` gives no value for a text. */
export const whyNoJson = (text: string): string =>
  isTooDeep(text) ? `nested deeper than ${MAX_JSON_DEPTH} levels` : 'not JSON'

/** Writes a parsed JSON value of any depth without spaces, the names of each object in the order that `namesOf` gives. */
export function writeJson(
  value: unknown,
  namesOf: (fields: object) => readonly string[] = Object.keys,
): string {
  const written: string[] = []
  const open: Holder[] = []
  const begin = (next: unknown) => {
    const holder = holderOf(next, namesOf)
    written.push(holder?.begins ?? JSON.stringify(next))
    if (holder !== undefined) open.push(holder)
  }
  begin(value)
  for (let holder = open.at(-1); holder !== undefined; holder = open.at(-1)) {
    const { names, values, at } = holder
    if (at < values.length) {
      if (at > 0) written.push(',')
      if (names !== undefined) written.push(JSON.stringify(names[at]), ':')
      holder.at += 1
      begin(values[at])
    } else {
      written.push(holder.ends)
      open.pop()
    }
  }
  return written.join('')
}

/** A list or an object that is being written. */
type Holder = {
  begins: '[' | '{'
  ends: ']' | '}'
  names: readonly string[] | undefined
  values: readonly unknown[]
  /** The value that comes next. */
  at: number
}

function holderOf(value: unknown, namesOf: (fields: object) => readonly string[]): Holder | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return { begins: '[', ends: ']', names: undefined, values: value, at: 0 }
  const names = namesOf(value)
  const values = names.map((name) => (value as Record<string, unknown>)[name])
  return { begins: '{', ends: '}', names, values, at: 0 }
}

/** A stranger's value, short enough for a message. */
export function show(value: unknown): string {
  const text = value === undefined ? 'absent' : jsonText(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
