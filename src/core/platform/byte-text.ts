import { jsonText } from './json-text.ts'

/**
 * UTF-8 bytes as a string: one character of code 0 to 255 for each byte. Items keep this form between the
 * response body and the lines of files, which are both UTF-8, so that nothing is decoded and encoded again;
 * JSON in this form parses in two thirds of the time. ASCII text, and therefore all of JSON's grammar, is the
 * same in both forms.
 */
export type ByteText = string

export const toBytes = (text: string): ByteText => Buffer.from(text, 'utf8').toString('latin1')

/** Decodes UTF-8; a lone surrogate, which no byte represents, becomes the replacement character. */
export const toText = (bytes: ByteText): string =>
  isAscii(bytes) ? bytes : Buffer.from(toWellFormed(bytes), 'latin1').toString('utf8')

/** Whether a text is the same as text and as bytes. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/**
 * Parses JSON and leaves strings as bytes. `\u` escapes are resolved first, because `\u00e9` could not be
 * distinguished from a byte afterwards. Lone surrogates are not changed, because they have no UTF-8 encoding.
 */
export function parseBytes(body: Buffer): unknown {
  const plain = body.includes('\\u') ? Buffer.from(jsonText(JSON.parse(body.toString('utf8')))) : body
  return JSON.parse(plain.toString('latin1'))
}

/** Converts a value of `parseBytes` to the value that `JSON.parse` returns. */
export function toValue(parsed: unknown): unknown {
  return parsed === undefined ? undefined : JSON.parse(toText(jsonText(parsed)))
}

/** Makes bytes valid UTF-8: a lone surrogate becomes the replacement character. */
export function toWellFormed(bytes: ByteText): ByteText {
  // This check is fast for strings of bytes.
  return bytes.isWellFormed() ? bytes : bytes.toWellFormed().replaceAll('\ufffd', REPLACEMENT)
}

const REPLACEMENT = toBytes('\ufffd')

/** Converts to lower case by Unicode rules; the result is also well-formed. */
export function toLowerCase(bytes: ByteText): ByteText {
  return isAscii(bytes) ? bytes.toLowerCase() : toBytes(toText(bytes).toLowerCase())
}
