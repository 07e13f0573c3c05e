import { MAX_JSON_DEPTH } from '../model/limits.ts'
import { isTooDeep } from './check-json-size.ts'

/**
 * Serializes a parsed JSON value of any depth like `JSON.stringify`, which is recursive and throws a
 * RangeError after some thousand levels, while `JSON.parse` reads any number of them.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return writeJson(value)
    throw error
  }
}

/** Parses JSON; undefined if the text is not valid JSON or is nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why `parseJson` returns undefined for a text. */
export const invalidJsonReason = (text: string): string =>
  isTooDeep(text) ? `nested deeper than ${MAX_JSON_DEPTH} levels` : 'not JSON'

/**
 * Serializes a parsed JSON value of any depth without spaces. `namesOf` determines the order of an object's
 * fields.
 */
export function writeJson(
  value: unknown,
  namesOf: (fields: object) => readonly string[] = Object.keys,
): string {
  const output: string[] = []
  const open: OpenContainer[] = []
  const write = (next: unknown) => {
    const container = openContainer(next, namesOf)
    output.push(container?.opening ?? JSON.stringify(next))
    if (container !== undefined) open.push(container)
  }
  write(value)
  for (let container = open.at(-1); container !== undefined; container = open.at(-1)) {
    const { names, values, at } = container
    if (at < values.length) {
      if (at > 0) output.push(',')
      if (names !== undefined) output.push(JSON.stringify(names[at]), ':')
      container.at += 1
      write(values[at])
    } else {
      output.push(container.closing)
      open.pop()
    }
  }
  return output.join('')
}

/** An array or object that is being written. */
type OpenContainer = {
  opening: '[' | '{'
  closing: ']' | '}'
  names: readonly string[] | undefined
  values: readonly unknown[]
  /** Index of the next value. */
  at: number
}

function openContainer(
  value: unknown,
  namesOf: (fields: object) => readonly string[],
): OpenContainer | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return { opening: '[', closing: ']', names: undefined, values: value, at: 0 }
  const names = namesOf(value)
  const values = names.map((name) => (value as Record<string, unknown>)[name])
  return { opening: '{', closing: '}', names, values, at: 0 }
}

/** An untrusted value as JSON, truncated for a message. */
export function previewJson(value: unknown): string {
  const text = value === undefined ? 'absent' : jsonText(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
