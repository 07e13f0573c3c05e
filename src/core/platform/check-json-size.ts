import { ExportError } from '../model/errors.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../model/limits.ts'

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92]

/**
 * Smaller bodies are not scanned before they are parsed: the scan takes about half as long as parsing. 16 MiB of `{},` take
 * 500 MB when parsed.
 */
const SCANNED_BYTES = 16 * 1024 * 1024

/**
 * Parses JSON of another program. Rejects what would take far more memory or time than its size suggests, such as `[[[[…`
 * or `[{},{},{},…`.
 *
 * @param scannedFrom size in bytes above which the text is scanned before it is parsed. @default 16 MiB
 * @throws PAGE_MALFORMED if the JSON exceeds a limit, and what `parse` throws
 */
export function parseLimited(
  json: Buffer,
  parse: (json: Buffer) => unknown,
  scannedFrom = SCANNED_BYTES,
): unknown {
  if (json.length > scannedFrom) {
    const { depth, values } = measureJson(json)
    if (depth > MAX_JSON_DEPTH) throw sizeError(`nested deeper than ${MAX_JSON_DEPTH} levels`)
    if (values > MAX_JSON_VALUES) throw sizeError(`has more than ${MAX_JSON_VALUES} values`)
  }
  const value = parse(json)
  if (isDeeper(value, MAX_JSON_DEPTH)) throw sizeError(`nested deeper than ${MAX_JSON_DEPTH} levels`)
  return value
}

/** Whether a parsed value has more than this many levels of lists and objects. */
const isDeeper = (value: unknown, levels: number): boolean => isParent(value) && hasDeeper(value, levels)

type Parent = Readonly<Record<string, unknown>> | readonly unknown[]

const isParent = (value: unknown): value is Parent => typeof value === 'object' && value !== null

/** Calls itself only for lists and objects: most values are neither. */
function hasDeeper(parent: Parent, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(parent)) {
    for (const value of parent) if (isParent(value) && hasDeeper(value, levels - 1)) return true
    return false
  }
  const fields = parent as Readonly<Record<string, unknown>>
  for (const name in fields) {
    const value = fields[name]
    if (isParent(value) && hasDeeper(value, levels - 1)) return true
  }
  return false
}

/** Whether JSON is nested deeper than `MAX_JSON_DEPTH`. */
export function isTooDeep(json: string): boolean {
  return json.length > MAX_JSON_DEPTH && measureJson(Buffer.from(json)).depth > MAX_JSON_DEPTH
}

/**
 * The nesting depth and the approximate number of values of a JSON text. Stops once either exceeds its limit.
 */
function measureJson(json: Uint8Array): { depth: number; values: number } {
  let [level, depth, values] = [0, 0, 0]
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === COMMA) values += 1
    else if (isOpening(byte)) {
      values += 1
      level += 1
      if (level > depth) depth = level
      if (depth > MAX_JSON_DEPTH || values > MAX_JSON_VALUES) break
    } else if (isClosing(byte)) level -= 1
  }
  return { depth, values }
}

// A brace and a bracket differ in one bit.
const isOpening = (byte: number) => (byte | 32) === 123
const isClosing = (byte: number) => (byte | 32) === 125

/** The offset at which the string that starts at `start` ends: its closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

function sizeError(problem: string): ExportError {
  return new ExportError('PAGE_MALFORMED', `the response ${problem}`, { isPermanent: true })
}
