/** A check of one JSON value, named by its path: yields what is wrong, nothing where it is right. */
export type Shape = (value: unknown, path: string) => Iterable<ShapeProblem>
type ShapeProblem = { readonly path: string; readonly expected: string; readonly found: unknown }

/** A JSON object with all of these fields; further fields are let be. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  return function* check(value, path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      yield { path, expected: 'an object', found: value }
      return
    }
    for (const [name, shape] of Object.entries(shapes)) {
      yield* shape((value as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`)
    }
  }
}

/** A value of one shape, or none at all. */
export function optional(shape: Shape): Shape {
  return function* check(value, path) {
    if (value !== undefined) yield* shape(value, path)
  }
}

/** A JSON list whose items all have one shape. */
export function list(item: Shape): Shape {
  return function* check(value, path) {
    if (!Array.isArray(value)) yield { path, expected: 'a list', found: value }
    else for (const [at, entry] of value.entries()) yield* item(entry, `${path}[${at}]`)
  }
}

/** A value that passes a test, described in words. */
export function that(expected: string, passes: (value: unknown) => boolean): Shape {
  return function* check(value, path) {
    if (!passes(value)) yield { path, expected, found: value }
  }
}

export const text = that('text', (value) => typeof value === 'string' && value !== '')
export const truth = that('true or false', (value) => typeof value === 'boolean')
export const count = that('a whole number from 0', isCount)
export const countOrNull = that('a whole number from 0, or null', (value) => value === null || isCount(value))
export const sha256 = that('64 lower-case hex digits', (value) => {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
})

/** Exactly this value. */
export function exactly(wanted: string | number | boolean): Shape {
  return that(JSON.stringify(wanted), (value) => value === wanted)
}

/** One of these words. */
export function oneOf(...words: readonly string[]): Shape {
  return that(words.join(' or '), (value) => typeof value === 'string' && words.includes(value))
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
