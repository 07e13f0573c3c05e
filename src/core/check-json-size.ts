import { ExportError } from './errors.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from './limits.ts'

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92]

/**
 * Refuses JSON that would take far more memory than its text: `[[[[…` or `[{},{},{},…`. It is scanned before it is parsed,
 * and only where it is long enough to exceed a limit. Throws PAGE_MALFORMED.
 */
export function checkJsonSize(json: Buffer): void {
  if (json.length <= MAX_JSON_DEPTH) return
  let [depth, values] = [0, 0]
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === COMMA) values += 1
    else if (isOpening(byte)) {
      values += 1
      depth += 1
      if (depth > MAX_JSON_DEPTH) throw tooMuch(`nested deeper than ${MAX_JSON_DEPTH} levels`)
    } else if (isClosing(byte)) depth -= 1
    if (values > MAX_JSON_VALUES) throw tooMuch(`has more than ${MAX_JSON_VALUES} values`)
  }
}

// A brace and a bracket differ in one bit.
const isOpening = (byte: number) => (byte | 32) === 123
const isClosing = (byte: number) => (byte | 32) === 125

/** Where the string that begins at `start` ends: at its closing quote, or at the end of the text. */
function endOfString(json: Buffer, start: number): number {
  for (let from = start + 1; ; ) {
    const end = json.indexOf(QUOTE, from)
    if (end === -1) return json.length
    let backslashes = 0
    while (json[end - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
    from = end + 1
  }
}

function tooMuch(how: string): ExportError {
  return new ExportError('PAGE_MALFORMED', `the response ${how}`, { isPermanent: true })
}
