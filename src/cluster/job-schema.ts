import * as v from 'valibot'
import type { Job, PartitionBy } from '../core/model/model.ts'
import { FIELDS } from '../job/fields/fields.ts'
import { plainShapes } from '../job/resolve/settings.ts'
import { block, bucketLocation, printableLine } from './schemas.ts'

const isUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

export const partitionBy: v.GenericSchema<unknown, PartitionBy> = v.custom<PartitionBy>(
  (value) => typeof value === 'string' && /^(day|month|blocks:[1-9]\d{0,11})$/.test(value),
)

/**
 * All properties of a job: its fields as they are parsed from job files, and what is stricter or not a field. The
 * `satisfies` clause makes another new property a compile error here: otherwise workers would not receive it.
 */
const JOB_FIELDS = {
  ...plainShapes(),
  name: FIELDS.name.parsed,
  file: printableLine,
  chain: FIELDS.chain.parsed,
  wallets: FIELDS.addresses.parsed,
  startBlock: block,
  endBlock: block,
  compression: FIELDS.compression.parsed,
  output: printableLine,
  store: v.optional(bucketLocation),
  catalog: v.optional(
    v.strictObject({
      uri: v.pipe(printableLine, v.check(isUrl)),
      warehouse: v.optional(FIELDS['catalog.warehouse'].parsed),
      namespace: FIELDS['catalog.namespace'].parsed,
    }),
  ),
  partitionBy,
  targetFileBytes: v.optional(FIELDS.targetFileSize.parsed),
  finalityMs: FIELDS.finality.parsed,
  nativeSymbol: v.nullable(FIELDS.nativeSymbol.parsed),
  escapeFormulas: v.boolean(),
  service: v.strictObject({
    baseUrl: v.pipe(printableLine, v.check(isUrl)),
    api: FIELDS['service.api'].parsed,
    apiKeyHeader: FIELDS['service.apiKeyHeader'].parsed,
    timeoutMs: FIELDS['service.timeout'].parsed,
    tier: v.optional(FIELDS['service.tier'].parsed),
    computeUnitsPerMinute: v.optional(FIELDS['service.computeUnitsPerMinute'].parsed),
    computeUnitsPerDay: v.optional(FIELDS['service.computeUnitsPerDay'].parsed),
    computeUnits: v.optional(FIELDS['service.computeUnits'].parsed),
  }),
} satisfies { [field in keyof Required<Job>]: v.GenericSchema }

export const JOB_SCHEMA: v.GenericSchema<unknown, Job & { endBlock: number; partitionBy: PartitionBy }> =
  v.strictObject(JOB_FIELDS)
