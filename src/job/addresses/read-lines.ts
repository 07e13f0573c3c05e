import { isUtf8 } from 'node:buffer'
import { INVALID_UTF8 } from '../../core/platform/text-encoding.ts'

/** One line without its line end. `problem` states why its text is not available. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: string }

/** Maximum length of a line in bytes. An address with the longest label needs a fortieth of it. */
const MAX_LINE_BYTES = 64 * 1024

/**
 * Splits bytes into lines, numbered from 1, at `\n` or `\r\n`; a byte order mark at the start is removed.
 *
 * Buffers one line at a time, and only the first bytes of a line that is too long.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line, void, void> {
  let number = 0
  let partial: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      number += 1
      yield decodeLine(number, appendBytes(partial, chunk.subarray(start, end)))
      partial = Buffer.alloc(0)
      start = end + 1
    }
    partial = appendBytes(partial, chunk.subarray(start))
  }
  if (partial.length > 0) yield decodeLine(number + 1, partial)
}

const NEWLINE = 0x0a

/** Concatenates two parts of a line, truncated one byte above the limit so that `decodeLine` detects the excess. */
function appendBytes(partial: Buffer, rest: Buffer): Buffer {
  const part = rest.subarray(0, MAX_LINE_BYTES + 1 - partial.length)
  return partial.length === 0 ? Buffer.from(part) : Buffer.concat([partial, part])
}

function decodeLine(number: number, bytes: Buffer): Line {
  if (bytes.length > MAX_LINE_BYTES) return { number, problem: `a line of more than ${MAX_LINE_BYTES} bytes` }
  if (!isUtf8(bytes)) return { number, problem: INVALID_UTF8 }
  const text = bytes.toString('utf8').replace(/\r$/, '')
  return { number, text: number === 1 ? text.replace(/^\ufeff/, '') : text }
}
