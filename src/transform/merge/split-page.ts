/** From one byte up to another. */
export type ByteRange = readonly [from: number, to: number]

const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92]
const LIST_KEY = Buffer.from('"transactions"')

/**
 * Where each entry of a page's list lies in its body. The body was parsed before: every bracket has its other half. Undefined
 * where the list's name is not there, or there twice.
 */
export function splitPage(body: Buffer): readonly ByteRange[] | undefined {
  let found: readonly ByteRange[] | undefined
  let depth = 0
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number
    depth += depthChange(byte)
    if (byte !== QUOTE) continue
    const end = endOfString(body, at)
    const opening =
      depth === 1 && body.subarray(at, end + 1).equals(LIST_KEY) ? listAfter(body, end) : undefined
    at = end
    if (opening === undefined) continue
    if (found !== undefined) return undefined
    const list = splitList(body, opening)
    found = list.entries
    at = list.end
  }
  return found
}

/** By how much a byte goes deeper into lists and objects. */
function depthChange(byte: number): -1 | 0 | 1 {
  // Brackets and braces are two characters apart from their other halves, and alike but for one bit.
  const bracket = byte | 32
  return bracket === 123 ? 1 : bracket === 125 ? -1 : 0
}

/** Where a text ends that begins here, its last quote. */
function endOfString(body: Buffer, start: number): number {
  let at = start + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/** Where the list begins that a name ending here stands for; undefined where it is no name, or of something else. */
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
