import { redactSecrets } from '../core/platform/secrets.ts'
import { oneLine } from './log.ts'

/**
 * Writes one or more lines of text to stdout. Control characters, and line breaks within a line, are replaced
 * by visible characters.
 */
export function print(lines: string | readonly string[]): void {
  const printableLines = [lines].flat().map((line) => oneLine(redactSecrets(line)))
  process.stdout.write(`${printableLines.join('\n')}\n`)
}

/**
 * Writes a value to stdout as one line of JSON. Characters that could control a terminal are escaped, so that
 * nothing is lost.
 */
export function printJson(value: unknown): void {
  const text = redactSecrets(JSON.stringify(value)).replace(UNPRINTABLE, (char) => unicodeEscapes(char))
  process.stdout.write(`${text}\n`)
}

/** Characters that JSON does not escape although they may control a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** One escape per UTF-16 code unit. */
function unicodeEscapes(char: string): string {
  return Array.from({ length: char.length }, (_, at) => {
    const unit = char.charCodeAt(at).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
