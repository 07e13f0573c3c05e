import { isUtf8 } from 'node:buffer'

/** The encoding of a text file. `unmarked` is UTF-16 without the byte order mark that states its byte order. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'unmarked'

/** Detects the encoding from the first four bytes of a file, or from all of them if it has fewer. */
export function detectEncoding([a, b, c, d]: Uint8Array): Encoding {
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  const isWide = (a === 0 && c === 0 && b !== 0) || (b === 0 && d === 0 && a !== undefined && a !== 0)
  return isWide ? 'unmarked' : 'utf-8'
}

/** Decodes a whole file, without its byte order mark. If it is not text, describes what was found instead. */
export function decodeText(bytes: Uint8Array): { readonly text: string } | { readonly found: string } {
  const encoding = detectEncoding(bytes)
  if (encoding === 'unmarked') return { found: MISSING_BOM }
  if (encoding === 'utf-8' && !isUtf8(bytes)) return { found: INVALID_UTF8 }
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) }
  } catch {
    return { found: INVALID_UTF16 }
  }
}

/** Converts chunks of a file to UTF-8. Rejects with a TypeError if the UTF-16 is invalid. */
export async function* asUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: Exclude<Encoding, 'unmarked'>,
): AsyncGenerator<Buffer, void, void> {
  if (encoding === 'utf-8') return yield* chunks
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  yield Buffer.from(decoder.decode())
}

/**
 * Passes on UTF-8 text. `onInvalid` makes the error for the number of the line, from 1, that has other bytes: a decoder
 * would replace them by U+FFFD.
 */
export async function* requireUtf8(
  chunks: AsyncIterable<Buffer>,
  onInvalid: (line: number) => Error,
): AsyncGenerator<Buffer, void, void> {
  let line = 1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const whole = bytes.subarray(0, bytes.length - unfinishedLength(bytes))
    if (!isUtf8(whole)) throw onInvalid(line + firstInvalidLine(whole) - 1)
    line += countNewlines(whole)
    rest = Buffer.from(bytes.subarray(whole.length))
    if (whole.length > 0) yield whole
  }
  if (rest.length > 0) throw onInvalid(line)
}

/** Length of a character at the end of which bytes are still to come. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let length = 1; length <= 3; length += 1) {
    const byte = bytes.at(-length) ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return expected > length ? length : 0
  }
  return 0
}

function countNewlines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

/** Number of the first line, from 1, that is not UTF-8. */
export function firstInvalidLine(bytes: Uint8Array): number {
  let line = 1
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline === -1 ? bytes.length : newline
    if (!isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
  return 1
}

const NEWLINE = 0x0a

export const INVALID_UTF8 = 'bytes that are not UTF-8'
export const MISSING_BOM = 'UTF-16 without a byte order mark'
export const INVALID_UTF16 = 'broken UTF-16'
export const TEXT_EXPECTED = 'UTF-8 text'
