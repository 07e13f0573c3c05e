import fc from 'fast-check'

/** Unexpected values; `absent` removes the field or item. */
const absent = Symbol('absent')

const numbers = [0, -0, -1, 1.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308]
const texts = [
  '',
  ' ',
  '0x',
  '1e5',
  '-1',
  '٣',
  '9'.repeat(80),
  'x'.repeat(70_000),
  '__proto__',
  'constructor',
  '\ud800',
  '\u0000',
]
const shapes: fc.JsonValue[] = [[], {}, [[]], { length: 5 }, [null], { toString: 1 }, { valueOf: null }]

const unexpectedValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(absent, null, true, false, ...numbers, ...texts, ...shapes),
  fc.jsonValue(),
  fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }).map(String),
  fc.string({ unit: 'binary' }),
)

const changes = fc.array(fc.tuple(fc.nat(1_000_000), unexpectedValue), { minLength: 1, maxLength: 6 })

/** A valid document with some of its parts replaced, removed or grown. */
export function mutated<T>(valid: T): fc.Arbitrary<unknown> {
  return changes.map((all) =>
    all.reduce<unknown>((document, [position, value]) => change(document, position, value), valid),
  )
}

function change(document: unknown, position: number, value: unknown): unknown {
  const paths = pathsOf(document)
  return put(document, paths[position % paths.length] ?? [], value)
}

/**
 * Paths of all parts, starting with the document itself. Only the first and last items of long lists, so that
 * every field is chosen.
 */
function pathsOf(part: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof part !== 'object' || part === null) return [path]
  const keys = Object.keys(part)
  const chosen = Array.isArray(part) && keys.length > 4 ? [...keys.slice(0, 2), ...keys.slice(-2)] : keys
  return [path, ...chosen.flatMap((key) => pathsOf((part as Record<string, unknown>)[key], [...path, key]))]
}

function put(document: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value === absent ? null : value
  const inside = (document as Record<string, unknown>)[key]
  if (Array.isArray(document)) {
    const at = Number(key)
    if (rest.length === 0 && value === absent) return document.toSpliced(at, 1)
    return document.with(at, put(inside, rest, value))
  }
  const others = Object.entries(document as object).filter(([name]) => name !== key)
  if (rest.length === 0 && value === absent) return Object.fromEntries(others)
  return Object.fromEntries([...others, [key, put(inside, rest, value)]])
}

const SNIPPETS = [
  ...'{}[]:,"\\\'&*!|>#%@`?-= \n\t\r',
  '\u0000',
  '\ufeff',
  '---',
  '<<',
  '1e999',
  'null',
  'true',
  '"__proto__"',
]

const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.nat(12),
    insert: fc.oneof(
      fc.constantFrom(...SNIPPETS).map(Buffer.from),
      fc.uint8Array({ maxLength: 8 }),
      fc.constant(Buffer.alloc(0)),
    ),
  }),
  { minLength: 1, maxLength: 5 },
)

/** Valid bytes with some of them removed and others inserted. */
export function edited(valid: string | Uint8Array): fc.Arbitrary<Buffer> {
  return edits.map((all) =>
    all.reduce(
      (bytes, { at, remove, insert }) => {
        const offset = Math.floor(at * bytes.length)
        return Buffer.concat([bytes.subarray(0, offset), insert, bytes.subarray(offset + remove)])
      },
      Buffer.from(valid as string),
    ),
  )
}
