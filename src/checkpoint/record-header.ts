import { crc32 } from 'node:zlib'
import { APIS } from '../core/model/api.ts'
import { LISTED_PRICES } from '../core/model/fees.ts'

/** First bytes of a record. The digit is the version of the format. */
export const RECORD_START = 'WLF2 '
/** The part of it that records of all versions begin with. */
export const ANY_RECORD_START = 'WLF'

/** Kinds and fields of records that version 1 named differently. */
const VERSION_1_KINDS: Readonly<Record<string, string>> = { again: 'reopen-missing', begun: 'partial' }
const VERSION_1_FIELDS: Readonly<Record<string, string>> = {
  cutMs: 'cutoffMs',
  young: 'afterCutoff',
  shown: 'ranges',
}

function fromVersion1(fields: Record<string, unknown>): Record<string, unknown> {
  const renamed = Object.entries(fields).map(([name, value]) => [VERSION_1_FIELDS[name] ?? name, value])
  const { kind, ...rest } = Object.fromEntries(renamed) as Record<string, unknown>
  return { kind: VERSION_1_KINDS[String(kind)] ?? kind, ...rest }
}

/** Parses the header that the bytes begin with; undefined if invalid. `length` is that of its line. */
export function parseHeader(start: Buffer) {
  if (!/^WLF[12] $/.test(start.toString('latin1', 0, RECORD_START.length))) return undefined
  const length = start.indexOf(10) + 1
  const [, version = '', crc = '', json = ''] =
    /^WLF([12]) ([0-9a-f]{8}) (\{.*\})\n$/.exec(start.toString('utf8', 0, length)) ?? []
  if (json === '' || crc32(json) !== Number.parseInt(crc, 16)) return undefined
  const parsed = JSON.parse(json) as Record<string, unknown>
  const fields = version === '1' ? fromVersion1(parsed) : parsed
  const { bytes, crc: bodyCrc } = fields
  return typeof bytes === 'number' && bytes >= 0 ? { length, bytes, crc: bodyCrc, fields } : undefined
}

/** The intact record headers in a tail. */
export function headersIn(tail: Buffer): Record<string, unknown>[] {
  const headers: Record<string, unknown>[] = []
  for (let at = tail.indexOf(ANY_RECORD_START); at >= 0; at = tail.indexOf(ANY_RECORD_START, at + 1)) {
    const header = parseHeader(tail.subarray(at))
    if (header !== undefined) headers.push(header.fields)
  }
  return headers
}

/**
 * Whether a record header is of a known kind and all its fields have the right type. The checksums detect
 * bytes that were corrupted on disk; this check detects records of another version or another program, which
 * also count as damage.
 */
export function isRecordHeader(header: Record<string, unknown>): boolean {
  const { kind } = header
  const validator =
    typeof kind === 'string' && Object.hasOwn(HEADER_VALIDATORS, kind) ? HEADER_VALIDATORS[kind] : undefined
  return validator?.(header) ?? false
}

type HeaderFields = Record<string, unknown>
type Validator = (value: unknown) => boolean

const isCount: Validator = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isText: Validator = (value) => typeof value === 'string'
const isDigits: Validator = (value) => typeof value === 'string' && /^\d{1,78}$/.test(value)
const isTime: Validator = (value) => typeof value === 'number' && Number.isFinite(value)
const nullable = (validator: Validator): Validator => {
  return (value) => value === null || validator(value)
}
const optional = (validator: Validator): Validator => {
  return (value) => value === undefined || validator(value)
}

function hasFields(validators: Readonly<Record<string, Validator>>): Validator {
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    return Object.entries(validators).every(([name, validator]) => validator((value as HeaderFields)[name]))
  }
}

const isSeen: Validator = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isCount)

const isRange = hasFields({ from: isCount, to: isCount })
const UNKNOWN_COUNTS = {
  statusUnknown: optional(isCount),
  feeUnknown: optional(isCount),
  feesUpperBound: optional(isCount),
}
const isDecimals: Validator = (value) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((list) => Array.isArray(list) && list.every(Number.isSafeInteger))
const hasWritten = hasFields({
  from: isCount,
  to: isCount,
  seen: isSeen,
  lastMs: optional(isTime),
  ...UNKNOWN_COUNTS,
  decimals: optional(isDecimals),
  decimalsConflict: optional(isCount),
})
const isWritten: Validator = (value) =>
  hasWritten(value) && Number((value as HeaderFields).from) <= Number((value as HeaderFields).to)

const isEarlierExport: Validator = (value) =>
  isWritten(value) && optional(isSeen)((value as HeaderFields).indexedTo)

const isRanges: Validator = (value) => Array.isArray(value) && value.every(isRange)
const isGap = hasFields({ listing: isText, from: isCount, to: isCount, reason: isText })
const isGaps: Validator = (value) => Array.isArray(value) && value.every(isGap)
const isTimes: Validator = (value) =>
  Array.isArray(value) &&
  value.every((entry) => Array.isArray(entry) && isCount(entry[0]) && isTime(entry[1]))
const isBlocks: Validator = (value) => value === 'blocks'
const PARTIAL_BLOCK_FIELDS = {
  block: isCount,
  token: isText,
  pages: isCount,
  items: isCount,
  bad: isCount,
  pageSize: optional(isCount),
}

const IDENTITY_FIELDS = {
  kind: optional(isBlocks),
  chain: isText,
  startBlock: isCount,
  endBlock: nullable(isCount),
  finalityMs: isTime,
  internals: optional((value) => value === 'full'),
  api: optional((value) => APIS.some((api) => api === value)),
}

const HEADER_VALIDATORS: Readonly<Record<string, Validator>> = {
  run: hasFields({
    identity: hasFields(IDENTITY_FIELDS),
    cutoffMs: nullable(isTime),
    before: optional(isEarlierExport),
  }),
  open: () => true,
  missing: hasFields({ block: isCount }),
  'reopen-missing': () => true,
  partial: hasFields(PARTIAL_BLOCK_FIELDS),
  end: hasFields({ end: isCount }),
  indexed: hasFields({ to: isCount }),
  cutoff: hasFields({ cutoffMs: isTime }),
  reopen: hasFields({ wallet: isText, from: isCount, to: isCount }),
  fee: hasFields({
    hash: isText,
    blockHash: isText,
    price: isDigits,
    cap: isDigits,
    extra: optional(isDigits),
    probe: optional((value) => value === true),
  }),
  listed: hasFields({ price: (value) => LISTED_PRICES.some((price) => price === value) }),
  limit: hasFields({ wallet: isText, to: isCount }),
  drop: hasFields({ wallet: isText, offset: isCount, ranges: isRanges }),
  hashes: hasFields({ from: isCount, to: isCount }),
  done: isWritten,
  next: hasFields({
    cutoffMs: nullable(isTime),
    from: isCount,
    lookback: optional(hasFields({ blocks: isCount, ms: isTime })),
  }),
  page: hasFields({
    wallet: isText,
    items: isCount,
    bad: isCount,
    afterCutoff: optional(isCount),
    blocks: nullable(hasFields({ min: isCount, max: isCount })),
    head: nullable(isCount),
    indexed: optional(nullable(isCount)),
    times: optional(isTimes),
    covered: isRange,
    gaps: optional(isGaps),
    opening: optional(isDigits),
  }),
}
