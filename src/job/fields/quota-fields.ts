import * as v from 'valibot'
import {
  METERED_OPERATIONS,
  type MeteredOperation,
  TIERS,
  type Tier,
  type UnitCosts,
} from '../../core/model/compute-units.ts'
import { suggest } from '../../core/model/suggest.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import { quoted, type RawValue } from '../resolve/raw-value.ts'
import { type Field, type FieldType, oneOf } from './field-type.ts'
import { integer } from './integer.ts'

const COST = integer(0, 1_000_000)

/** The fields of `service` that describe the quota of the API key in compute units. */
export const QUOTA_FIELDS = {
  'service.tier': {
    ...oneOf<Tier>(TIERS),
    description:
      'Tier of the API key (none: no key). Its quota sets the rate from the first request on, and a run stops before its compute units of a day are used up. Without it the rate is learned from the responses with status 429.',
    examples: ['free', 'pro'],
    synonyms: 'plan subscription quota ratelimit',
    option: { name: 'tier', value: '<name>', description: `Tier of the API key: ${TIERS.join(', ')}` },
  },
  'service.computeUnitsPerMinute': {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description: 'Compute units that the API key may use per minute. Overrides the value of the tier.',
    examples: [8000],
    synonyms: 'unitsperminute requestsperminute requestspersecond rps perminute',
  },
  'service.computeUnitsPerDay': {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description:
      'Compute units that the runs into this output may use per UTC day. Overrides the value of the tier.',
    examples: [2_000_000],
    synonyms: 'unitsperday requestsperday dailybudget dailyquota dailylimit perday',
  },
  'service.computeUnits': {
    ...unitCosts(),
    description: `Compute units per request, by operation, where they differ from those of the Avalanche Data API. The operations are ${METERED_OPERATIONS.join(', ')}.`,
    examples: [{ listing: 20, transaction: 20 }],
    synonyms: 'costs unitcosts prices',
  },
} as const satisfies Record<`service.${string}`, Field<unknown>>

/** A mapping of operations to compute units. */
function unitCosts(): FieldType<UnitCosts> {
  const entries = <T>(value: T) => Object.fromEntries(METERED_OPERATIONS.map((name) => [name, value]))
  return {
    schema: { type: 'object', properties: entries(COST.schema), additionalProperties: false },
    parsed: v.strictObject(entries(v.optional(COST.parsed))),
    parse: (raw, report) => {
      if (raw.value instanceof Map) return parseCosts(raw.value, report)
      if (!raw.isInvalid) report(invalidValue(raw, 'a mapping of operations, each a line "listing: 20"'))
      return undefined
    },
  }
}

function parseCosts(costs: ReadonlyMap<string, RawValue>, report: ReportDiagnostic): UnitCosts {
  const parsed: Partial<Record<MeteredOperation, number>> = {}
  for (const [key, raw] of costs) {
    const operation = METERED_OPERATIONS.find((name) => name === key)
    if (operation === undefined) reportUnknown(key, raw, report)
    else parsed[operation] = COST.parse(raw, report) ?? 0
  }
  return parsed
}

function reportUnknown(key: string, { keyLocation: location, field }: RawValue, report: ReportDiagnostic) {
  const expected = `one of ${METERED_OPERATIONS.join(', ')}`
  const didYouMean = suggest(key, METERED_OPERATIONS)
  report({ location, field, found: `the key ${quoted(key)}`, expected, didYouMean })
}
