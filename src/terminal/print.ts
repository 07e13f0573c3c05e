import { redactSecrets } from '../core/platform/secrets.ts'
import { oneLine } from './log.ts'

/** Writes a line, or several, for people to stdout. Control characters and line breaks within a line are replaced visibly. */
export function print(lines: string | readonly string[]): void {
  const printableLines = [lines].flat().map((line) => oneLine(redactSecrets(line)))
  process.stdout.write(`${printableLines.join('\n')}\n`)
}

/** Writes a value to stdout as one line of JSON; what a terminal might obey stands as escapes, so that nothing is lost. */
export function printJson(value: unknown): void {
  const text = redactSecrets(JSON.stringify(value)).replace(UNPRINTABLE, (char) => unicodeEscapes(char))
  process.stdout.write(`${text}\n`)
}

/** What JSON leaves as it is though a terminal may obey it. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** One escape for each half of a character beyond the first 65,536. */
function unicodeEscapes(char: string): string {
  return Array.from({ length: char.length }, (_, at) => {
    const unit = char.charCodeAt(at).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
