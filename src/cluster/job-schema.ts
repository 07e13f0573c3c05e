import * as v from 'valibot'
import type { Job, PartitionBy } from '../core/model/model.ts'
import type { TableName } from '../core/table/index.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { address, block, bucketLocation, count, jobName, printableLine } from './schemas.ts'

const text = (maxCharacters: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(maxCharacters))
const label = v.nullable(v.pipe(v.string(), v.maxLength(4096)))
const positive = v.pipe(count, v.minValue(1))
const isUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

export const partitionBy: v.GenericSchema<unknown, PartitionBy> = v.custom<PartitionBy>(
  (value) => typeof value === 'string' && /^(day|month|blocks:[1-9]\d{0,11})$/.test(value),
)

const tableName: v.GenericSchema<unknown, TableName> = v.picklist(TABLE_NAMES)

/**
 * All fields of a job. The `satisfies` clause makes a new field a compile error here: otherwise workers would
 * not receive it.
 */
const JOB_FIELDS = {
  name: jobName,
  file: printableLine,
  kind: v.picklist(['wallets', 'blocks']),
  chain: text(256),
  wallets: v.array(v.strictObject({ address, label })),
  startBlock: block,
  endBlock: block,
  tables: v.pipe(v.array(tableName), v.minLength(1)),
  format: v.picklist(['csv', 'parquet']),
  compression: v.picklist(['none', 'gzip', 'zstd', 'snappy']),
  output: printableLine,
  store: v.optional(bucketLocation),
  maxRowsPerFile: positive,
  partitionBy,
  targetFileBytes: v.optional(positive),
  concurrency: positive,
  finalityMs: count,
  nativeSymbol: v.nullable(text(256)),
  keepRaw: v.boolean(),
  escapeFormulas: v.boolean(),
  service: v.strictObject({
    baseUrl: v.pipe(printableLine, v.check(isUrl)),
    apiKeyHeader: v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/)),
    timeoutMs: positive,
  }),
} satisfies { [field in keyof Required<Job>]: v.GenericSchema }

export const JOB_SCHEMA: v.GenericSchema<unknown, Job & { endBlock: number; partitionBy: PartitionBy }> =
  v.strictObject(JOB_FIELDS)
