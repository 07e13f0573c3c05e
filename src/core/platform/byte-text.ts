import { jsonText } from './json-text.ts'

/**
 * Text as its UTF-8: a string with one character, of code 0 to 255, for each byte. Items of the service are kept so between
 * their pages and the lines of files, both of which are UTF-8: nothing is decoded only to be encoded again, and JSON of
 * one byte a character is parsed in two thirds of the time. ASCII, and so all of JSON's grammar, is the same in both.
 */
export type ByteText = string

export const toBytes = (text: string): ByteText => Buffer.from(text, 'utf8').toString('latin1')

export const toText = (bytes: ByteText): string =>
  isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')

/** True where text and bytes are the same. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/**
 * Parses JSON whose strings are left as bytes. What is escaped is written out first, or nobody could tell `\u00e9` from a
 * byte; only halves of a pair of surrogates stay, which have no bytes.
 */
export function parseBytes(body: Buffer): unknown {
  const plain = body.includes('\\u') ? Buffer.from(jsonText(JSON.parse(body.toString('utf8')))) : body
  return JSON.parse(plain.toString('latin1'))
}

/** The value that JSON gives in the usual way. */
export function toValue(parsed: unknown): unknown {
  return parsed === undefined ? undefined : JSON.parse(toText(jsonText(parsed)))
}

/** Bytes that are UTF-8: half a pair of surrogates becomes the replacement character. */
export function toWellFormed(bytes: ByteText): ByteText {
  // Of a string of bytes that is known at once.
  return bytes.isWellFormed() ? bytes : bytes.toWellFormed().replaceAll('\ufffd', REPLACEMENT)
}

const REPLACEMENT = toBytes('\ufffd')

/** In lower case, by the rules of all scripts; well-formed too. */
export function toLowerCase(bytes: ByteText): ByteText {
  return isAscii(bytes) ? bytes.toLowerCase() : toBytes(toText(toWellFormed(bytes)).toLowerCase())
}
