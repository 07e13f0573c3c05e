import type { ByteRange } from './source.ts'

const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92]

/**
 * Returns the byte range of each entry of a list in a page's body. The body must be valid JSON. Returns undefined if the
 * top-level object has no such list, or more than one.
 *
 * @param name the list. @default transactions
 */
export function splitPage(body: Buffer, name = 'transactions'): readonly ByteRange[] | undefined {
  const listKey = Buffer.from(`"${name}"`)
  let entries: readonly ByteRange[] | undefined
  let depth = 0
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number
    depth += depthChange(byte)
    if (byte !== QUOTE) continue
    const end = endOfString(body, at)
    const opening =
      depth === 1 && body.subarray(at, end + 1).equals(listKey) ? listAfter(body, end) : undefined
    at = end
    if (opening === undefined) continue
    if (entries !== undefined) return undefined
    const list = splitList(body, opening)
    entries = list.entries
    at = list.end
  }
  return entries
}

/** The change of the nesting depth at a byte: 1 for an opening bracket or brace, -1 for a closing one. */
function depthChange(byte: number): -1 | 0 | 1 {
  // In ASCII, `[` and `{` differ only in bit 5, and so do `]` and `}`.
  const bracket = byte | 32
  return bracket === 123 ? 1 : bracket === 125 ? -1 : 0
}

/** Returns the offset of the closing quote of the string that begins at `start`. */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/**
 * Returns the offset of the list that follows a string ending at `end`; undefined if it is not a key, or not
 * of a list.
 */
function listAfter(body: Buffer, end: number): number | undefined {
  const colon = skipWhitespace(body, end + 1)
  const value = skipWhitespace(body, colon + 1)
  return body[colon] === COLON && body[value] === 91 ? value : undefined
}

function skipWhitespace(body: Buffer, start: number): number {
  let at = start
  while ((body[at] ?? 33) <= 32) at += 1
  return at
}

function splitList(body: Buffer, opening: number): { entries: readonly ByteRange[]; end: number } {
  const entries: ByteRange[] = []
  let [depth, start] = [0, opening + 1]
  for (let at = opening; at < body.length; at += 1) {
    const byte = body[at] as number
    if (byte === QUOTE) at = endOfString(body, at)
    else if (byte === COMMA && depth === 1) {
      entries.push([start, at])
      start = at + 1
    } else depth += depthChange(byte)
    if (depth > 0) continue
    const isEmpty = entries.length === 0 && skipWhitespace(body, start) === at
    return { entries: isEmpty ? [] : [...entries, [start, at]], end: at }
  }
  return { entries, end: body.length }
}
