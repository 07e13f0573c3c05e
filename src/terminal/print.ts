import { withoutSecrets } from '../core/platform/secrets.ts'
import { oneLine } from './log.ts'

/** Writes a line, or several, for people to stdout. Control characters and line breaks within a line are replaced visibly. */
export function say(lines: string | readonly string[]): void {
  const shown = [lines].flat().map((line) => oneLine(withoutSecrets(line)))
  process.stdout.write(`${shown.join('\n')}\n`)
}

/** Writes a value to stdout as one line of JSON; what a terminal might obey stands as escapes, so that nothing is lost. */
export function sayJson(value: unknown): void {
  const text = withoutSecrets(JSON.stringify(value)).replace(UNPRINTABLE, (char) => escapesOf(char))
  process.stdout.write(`${text}\n`)
}

/** What JSON leaves as it is though a terminal may obey it. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** One escape for each half of a character beyond the first 65,536. */
function escapesOf(char: string): string {
  return Array.from({ length: char.length }, (_, at) => {
    const unit = char.charCodeAt(at).toString(16)
    return `\\u${unit.padStart(4, '0')}`
  }).join('')
}
