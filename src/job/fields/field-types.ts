import * as v from 'valibot'
import { ADDRESS } from '../../core/model/address.ts'
import { parseBaseUrl } from '../../core/model/base-url.ts'
import { chainIdByName } from '../../core/model/chains.ts'
import { METERED_OPERATIONS, type UnitCosts } from '../../core/model/compute-units.ts'
import { replacementOf } from '../../core/model/known-services.ts'
import { FORMAT_NAMES, type PartitionBy } from '../../core/model/model.ts'
import { suggest } from '../../core/model/suggest.ts'
import { TABLE_NAMES, type TableName } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import { ADDRESS_EXPECTED, address } from '../addresses/address.ts'
import { formatRawValue, invalidValue, type Problem, quoted, type RawValue, textOf } from '../diagnostics.ts'
import { type FieldType, fieldType, integer, listOf, numberText, oneOf, textMatching } from './field-type.ts'

/** A name that can be used as a folder name. */
export function jobName(): FieldType<string> {
  const expected = 'a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit'
  return textMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/, expected, (text) => {
    const likely = text
      .slice(0, 64)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replaceAll(/^[._-]+|-+$/g, '')
    return likely === '' || likely === text ? undefined : likely
  })
}

/** A chain id as exact text: an integer of any size, or text that needs no escaping in a URL path. */
export function chainId(): FieldType<string, string | number> {
  const id = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
  return fieldType({
    schema: {
      anyOf: [
        { type: 'string', pattern: id.source },
        { type: 'integer', minimum: 0 },
      ],
    },
    parsed: v.pipe(v.string(), v.regex(id)),
    accept: (raw) => {
      const text = textOf(raw)
      const pattern = typeof raw.value === 'string' ? id : /^(0|[1-9]\d{0,127})$/
      // Names have the syntax of an id, but services do not accept them.
      const isId = text !== undefined && pattern.test(text) && chainIdByName(text) === undefined
      return isId ? text : undefined
    },
    problem: (raw) => {
      const text = textOf(raw) ?? ''
      const likely = /^0x[0-9a-f]{1,64}$/i.test(text) ? String(BigInt(text)) : text.trim().replace(/,$/, '')
      return {
        expected: 'a chain id: an integer, or text of letters, digits, "-", "_" and "."',
        didYouMean: chainIdByName(text) ?? (likely !== text && id.test(likely) ? likely : undefined),
      }
    },
  })
}

/** Parses a duration such as `500ms`, `90s`, `10m`, `1h` or `2d` to milliseconds; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text) ?? []
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit]
  return unitMs === undefined ? undefined : Number(count) * unitMs
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A duration such as `90s`, from `min` to `max`, inclusive. */
export function duration(min: string, max: string): FieldType<number, string> {
  const range = [durationMs(min) ?? 0, durationMs(max) ?? 0] as const
  return numberText({
    pattern: `^${range[0] > 0 ? '0*[1-9]\\d*' : '\\d+'}(ms|s|m|h|d)$`,
    range,
    expected: `a duration from ${min} to ${max}, like 500ms, 90s, 10m, 1h or 2d`,
    convert: durationMs,
    // A number without a unit means seconds; the unit may be spelled out.
    suggest: (text) => {
      const [, count, word = 's'] = /^(\d{1,9})\s*([a-z]+)?$/i.exec(text) ?? []
      const unit = Object.keys(UNIT_PATTERNS).find((name) => UNIT_PATTERNS[name]?.test(word))
      return count === undefined || unit === undefined || count + unit === text ? undefined : count + unit
    },
  })
}

const UNIT_PATTERNS: Readonly<Record<string, RegExp>> = {
  ms: /^(ms|milli(second)?s?)$/i,
  s: /^(s|secs?|seconds?)$/i,
  m: /^(m|mins?|minutes?)$/i,
  h: /^(h|hrs?|hours?)$/i,
  d: /^(d|days?)$/i,
}

/** A file size such as `64KB`, `256MB` or `1GB`, parsed to bytes (1 KB = 1,000 bytes). */
export function fileSize(): FieldType<number, string> {
  const bytes: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9 }
  const size = /^([1-9]\d{0,5})(KB|MB|GB)$/
  return numberText({
    pattern: size.source,
    range: [1, Number.MAX_SAFE_INTEGER],
    expected: 'a size such as 256MB: a whole number from 1 with KB, MB or GB',
    convert: (text) => {
      const [, number, unit = ''] = size.exec(text) ?? []
      return number === undefined ? undefined : Number(number) * (bytes[unit] ?? 0)
    },
    // Other spellings of the unit: `256 mb`, `256M`, `256MiB`.
    suggest: (text) => {
      const [, number, prefix] = /^([1-9]\d{0,5})\s*([kmg])(?:i?b|bytes)?$/i.exec(text) ?? []
      return number === undefined ? undefined : `${number}${prefix?.toUpperCase()}B`
    },
  })
}

/** Partitioning of the files of a table into folders. */
export function partitioning(): FieldType<PartitionBy | 'none'> {
  const expected = 'none, day, month or blocks:<n>, n a whole number from 1'
  return textMatching(/^(none|day|month|blocks:[1-9]\d{0,11})$/, expected, (text) => {
    const blocks = /^(?:blocks?)?\W*([1-9]\d{0,11})(?:\W*blocks?)?$/i.exec(text)?.[1]
    if (blocks !== undefined) return `blocks:${blocks}`
    return suggest(text.replace(/^daily$/i, 'day').replace(/^monthly$/i, 'month'), ['none', 'day', 'month'])
  })
}

/** A list of distinct table names, sorted in the order in which the tables are declared. */
export function tableList(): FieldType<readonly TableName[]> {
  return listOf(oneOf(TABLE_NAMES), {
    noun: 'table',
    minItems: 1,
    sort: (names) => TABLE_NAMES.filter((name) => names.has(name)),
    problem: ({ value }) => {
      const words = typeof value === 'string' ? value.split(/[\s,]+/) : ['']
      const names = words.map((word) => suggest(word, TABLE_NAMES))
      return {
        expected: `a list of at least one of ${TABLE_NAMES.join(', ')} (without the field: all)`,
        didYouMean: names.includes(undefined) ? undefined : `[${names.join(', ')}]`,
      }
    },
  })
}

/** A list of distinct contract addresses, in lower case and sorted. */
export function contractList(): FieldType<readonly string[]> {
  const contract: FieldType<string> = {
    ...address,
    parsed: v.pipe(v.string(), v.regex(ADDRESS)),
    parse: (raw, report) => address.parse(raw, report)?.toLowerCase(),
  }
  return listOf(contract, {
    noun: 'address',
    sort: (contracts) => [...contracts].sort(),
    problem: () => ({ expected: `a list of addresses, each ${ADDRESS_EXPECTED}` }),
  })
}

/**
 * An http(s) URL or `demo`. Trailing slashes and `/v1` are removed. URLs with credentials or a query are rejected, and
 * these parts are never shown. Hosts that are known to have no API are rejected too.
 */
export function baseUrl(): FieldType<string> {
  const parse = ({ value }: RawValue) =>
    value === 'demo' ? value : parseBaseUrl(typeof value === 'string' ? value : '')
  return fieldType({
    schema: { type: 'string', pattern: '^(demo|[hH][tT][tT][pP][sS]?://[^\\s?#@\\\\]+)$' },
    parsed: v.string(),
    accept: (raw) => {
      const url = parse(raw)
      return url !== undefined && replacementOf(url) === undefined ? url : undefined
    },
    problem: (raw) => {
      const replacement = replacementOf(parse(raw) ?? '')
      if (replacement === undefined) return malformedUrl(raw)
      const { reason, keys, baseUrl: didYouMean } = replacement
      return { expected: `another URL: ${[reason, keys].filter(Boolean).join('; ')}`, didYouMean }
    },
  })
}

function malformedUrl(raw: RawValue): Problem {
  const expected = 'an http or https URL without user, password, query and #, or demo'
  if (typeof raw.value !== 'string') return { expected }
  return { expected, found: redactUrl(raw.value), didYouMean: suggestUrl(raw.value) }
}

/** Suggests the URL for a host without `https://`, or that of its replacement. */
function suggestUrl(text: string): string | undefined {
  if (/^demo$/i.test(text)) return 'demo'
  if (!/^(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(\/[^\s?#@\\]*)?$/i.test(text)) return undefined
  const url = /^(localhost|127\.)/i.test(text) ? `http://${text}` : `https://${text}`
  return replacementOf(url)?.baseUrl ?? url
}

/** Removes the parts before `@` and after `?` or `#`, which may contain a key. */
function redactUrl(text: string): string {
  const [hasUser, hasQuery] = [text.includes('@'), /[?#]/.test(text)]
  if (hasUser && hasQuery) return 'a URL with credentials (not shown)'
  if (hasUser) return quoted(`…@${text.slice(text.lastIndexOf('@') + 1)}`)
  return quoted(text.replace(/([?#]).*$/s, '$1…'))
}

/** The name of the header that carries the API key. Invalid text is not shown, because it may be the key itself. */
export function headerName(): FieldType<string> {
  const name = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
  return fieldType({
    schema: { type: 'string', pattern: name.source },
    parsed: v.pipe(v.string(), v.regex(name)),
    accept: ({ value }) =>
      typeof value === 'string' && name.test(value) && !RESERVED_HEADERS.has(value.toLowerCase())
        ? value
        : undefined,
    problem: (raw) => {
      const { value } = raw
      if (typeof value === 'string' && name.test(value))
        return { expected: 'a header that HTTP itself does not use, like x-service-api-key' }
      return {
        expected: 'the name of an HTTP header, like x-service-api-key',
        found:
          typeof value === 'string' ? `text of ${value.length} characters (not shown)` : formatRawValue(raw),
      }
    },
  })
}

/** Headers that HTTP or the requests of the program use. */
const RESERVED_HEADERS = new Set(
  'host connection keep-alive upgrade te trailer transfer-encoding proxy-connection content-length content-type content-encoding expect accept accept-encoding user-agent'.split(
    ' ',
  ),
)

/** A mapping of operations to compute units. */
export function unitCosts(): FieldType<UnitCosts> {
  const cost = integer(0, 1_000_000)
  const entries = <T>(value: T) => Object.fromEntries(METERED_OPERATIONS.map((name) => [name, value]))
  const unknownOperation = (key: string) => ({
    found: `the key ${quoted(key)}`,
    expected: `one of ${METERED_OPERATIONS.join(', ')}`,
    didYouMean: suggest(key, METERED_OPERATIONS),
  })
  return {
    schema: { type: 'object', properties: entries(cost.schema), additionalProperties: false },
    parsed: v.strictObject(entries(v.optional(cost.parsed))),
    parse: (raw, report) => {
      if (raw.isInvalid) return undefined
      if (!(raw.value instanceof Map))
        return void report(invalidValue(raw, 'a mapping of operations, each a line "listing: 20"'))
      const costs: Partial<Record<(typeof METERED_OPERATIONS)[number], number>> = {}
      for (const [key, rawCost] of raw.value as ReadonlyMap<string, RawValue>) {
        const operation = METERED_OPERATIONS.find((name) => name === key)
        if (operation !== undefined) costs[operation] = cost.parse(rawCost, report) ?? 0
        else report({ location: rawCost.keyLocation, field: rawCost.field, ...unknownOperation(key) })
      }
      return costs
    },
  }
}

/** Describes the compressions of each format, such as `csv: none (default) or gzip`. */
export function compressionChoices(): string[] {
  return FORMAT_NAMES.map((name) => {
    const [first, ...others] = FORMATS[name].compressions
    const last = others.pop()
    const start = [`${first} (default)`, ...others].join(', ')
    return `${name}: ${last === undefined ? start : `${start} or ${last}`}`
  })
}

/** The same in the form of option help: `csv: none, gzip; parquet: …`. */
export function compressionNames(): string {
  return FORMAT_NAMES.map((name) => `${name}: ${FORMATS[name].compressions.join(', ')}`).join('; ')
}
