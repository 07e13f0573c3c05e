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
  if (encoding === 'utf-8' && !isUtf8(bytes)) return { found: 'bytes that are not UTF-8' }
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

export const MISSING_BOM = 'UTF-16 without a byte order mark'
export const INVALID_UTF16 = 'broken UTF-16'
export const TEXT_EXPECTED = 'UTF-8 text'
