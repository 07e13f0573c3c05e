import { withoutSecrets } from '../core/secrets.ts'
import { printable } from './log.ts'

/** Writes lines for people to stdout; no name in them, whoever chose it, plays with their terminal. */
export function say(text: string): void {
  process.stdout.write(`${printable(withoutSecrets(text))}\n`)
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
