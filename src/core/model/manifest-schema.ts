import * as v from 'valibot'
import { TABLE_NAMES } from '../table/index.ts'
import { SCHEMA_VERSION } from '../table/schema-changes.ts'
import { APIS } from './api.ts'
import { ASSET_TYPES } from './asset.ts'
import { isExportPath } from './export-path.ts'
import type { Manifest } from './manifest.ts'
import { COMPRESSIONS, FORMAT_NAMES, WRAPS } from './model.ts'

/** An invalid value in a manifest; `path` is empty if the document as a whole is invalid. */
export type ManifestProblem = { path: string; expected: string; found: unknown }

/**
 * Lists the problems of a parsed `manifest.json` (version 1); empty if it is valid. Unknown fields are
 * allowed.
 */
export function manifestProblems(value: unknown): ManifestProblem[] {
  const { issues = [] } = v.safeParse(MANIFEST, value)
  return issues.map(({ path = [], input, message, type }) => {
    const keys = path.map(({ key }) => key)
    const isMissing = type === 'loose_object' && path.at(-1)?.origin === 'key'
    return {
      path: keys
        .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
        .join('')
        .slice(1),
      expected: isMissing ? expectedAt(MANIFEST, keys) : message,
      found: path.at(-1)?.origin === 'value' ? path.at(-1)?.value : input,
    }
  })
}

/** Whether parsed JSON is a valid manifest of version 1. */
export function isManifest(value: unknown): value is Manifest {
  return v.is(MANIFEST, value)
}

/** Whether parsed JSON is a manifest whose tables were left out: only its coverage is of use. */
export function isCoverageManifest(value: unknown): value is Manifest {
  return v.is(COVERAGE_ONLY, value)
}

/** Whether a problem is an unsafe path, which suggests an attack rather than damage. */
export const isPathProblem = ({ path }: ManifestProblem): boolean => path.endsWith('.path')

type AnySchema = {
  message?: unknown
  entries?: Record<string, AnySchema>
  item?: AnySchema
  value?: AnySchema
  wrapped?: AnySchema
}

/** The schema's message at a path. For a missing field, valibot reports only the name of the field. */
function expectedAt(schema: AnySchema, keys: readonly unknown[]): string {
  const inner = keys.reduce<AnySchema | undefined>((outer, key) => {
    const unwrapped = outer?.wrapped ?? outer
    return unwrapped?.entries?.[String(key)] ?? unwrapped?.item ?? unwrapped?.value
  }, schema)
  return String(inner?.message)
}

const fields = <T extends v.ObjectEntries>(entries: T) => v.looseObject(entries, 'an object')
const list = <T extends v.GenericSchema>(item: T) => v.array(item, 'a list')
const exactly = <T extends string | number | boolean>(value: T) => v.literal(value, JSON.stringify(value))
const oneOf = <T extends readonly string[]>(...choices: T) => v.picklist(choices, choices.join(' or '))
const checked = <T>(expected: string, accepts: (value: unknown) => boolean) => v.custom<T>(accepts, expected)

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)

const text = checked<string>('text', (value) => typeof value === 'string' && value !== '')
const flag = v.boolean('true or false')
const count = checked<number>('a whole number from 0', isCount)
const sha256 = checked<string>('64 lower-case hex digits', matches(/^[0-9a-f]{64}$/))
const textOrNull = checked<string | null>(
  'text, or null',
  (value) => typeof value === 'string' || value === null,
)
const countOrNull = checked<number | null>(
  'a whole number from 0, or null',
  (value) => value === null || isCount(value),
)

const RANGE = { fromBlock: count, toBlock: count }
const path = checked<string>(
  'a relative path in the folder of a table',
  (value) => typeof value === 'string' && isExportPath(value),
)
const TABLE = fields({
  rows: count,
  columns: list(fields({ name: text, type: text, nullable: flag })),
  notDecimal: v.optional(count),
  files: list(fields({ path, rows: count, bytes: count, sha256, notDecimal: v.optional(count), ...RANGE })),
})

const JOB = fields({
  name: text,
  kind: v.optional(exactly('blocks')),
  chain: text,
  startBlock: count,
  endBlock: countOrNull,
  format: oneOf(...FORMAT_NAMES),
  compression: oneOf(...COMPRESSIONS),
  addresses: count,
  addressesSha256: sha256,
  nativeSymbol: v.optional(textOrNull),
  wraps: v.optional(oneOf(...WRAPS)),
  wrappedCoins: v.optional(list(checked<string>('an address in lower case', matches(/^0x[0-9a-f]{40}$/)))),
  atomic: v.optional(exactly(true)),
  escapeFormulas: v.optional(flag),
  fees: v.optional(oneOf('exact', 'listed')),
  internals: v.optional(exactly('full')),
  api: v.optional(oneOf(...APIS)),
  table: v.optional(exactly('iceberg')),
  numbers: v.optional(exactly('decimal')),
  catalog: v.optional(fields({ uri: text, warehouse: v.optional(text), namespace: text })),
  partitionBy: v.optional(
    checked('day, month or blocks:<n>, or nothing', matches(/^(day|month|blocks:[1-9]\d*)$/)),
  ),
})

const COVERAGE = fields({
  address: text,
  ...RANGE,
  transactions: count,
  label: v.optional(textOrNull),
  removed: v.optional(exactly(true)),
  error: v.optional(text),
  gaps: v.optional(list(fields({ listing: text, ...RANGE, reason: text }))),
})

const ASSET_TYPE = checked<string>(ASSET_TYPES.join(' or '), (value) =>
  ASSET_TYPES.some((type) => type === value),
)
const OPENING = fields({
  walletAddress: text,
  assetType: ASSET_TYPE,
  assetAddress: textOrNull,
  tokenId: textOrNull,
  value: checked<string>('an integer as decimal text', matches(/^-?\d{1,78}$/)),
})

const TABLES = v.pipe(
  v.record(v.picklist(TABLE_NAMES, `a table of ${TABLE_NAMES.join(', ')}`), TABLE, 'an object'),
  v.check((tables) => Object.keys(tables).length > 0, 'at least one table'),
)

const FIELDS = {
  manifestVersion: exactly(1),
  schemaVersion: checked(
    `${SCHEMA_VERSION} at most (a newer version of walletlake wrote it)`,
    (value) => isCount(value) && Number(value) <= SCHEMA_VERSION,
  ),
  generator: checked('"walletlake <version>"', matches(/^walletlake \S+$/)),
  job: JOB,
  coverage: list(COVERAGE),
  completeToBlock: v.optional(count),
  blocks: v.optional(fields({ ...RANGE, missing: list(fields(RANGE)) })),
  rejects: count,
  statusUnknown: v.optional(count),
  feeUnknown: v.optional(count),
  feesUpperBound: v.optional(count),
  decimalsConflict: v.optional(count),
  opening: v.optional(list(OPENING)),
}

const MANIFEST = v.pipe(
  fields({
    ...FIELDS,
    tables: TABLES,
  }),
  v.forward(
    v.check(({ job, blocks }) => job.kind === 'blocks' || blocks === undefined, '"none"'),
    ['blocks'],
  ),
)

const COVERAGE_ONLY = fields({ ...FIELDS, tables: v.strictObject({}) })
