import * as v from 'valibot'
import { type BucketLocation, NO_END } from '../core/model/model.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { bucketUrl, parseBucketUrl } from '../storage/bucket-url.ts'

/**
 * Schemas for data from Redis and from the state of a run. Other programs can write there, so all of it is
 * untrusted.
 */

export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** Milliseconds since 1970. */
export const timeMs = v.pipe(v.number(), v.safeInteger())
export const block = v.pipe(count, v.maxValue(NO_END))
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
/** Random token of an attempt or of one execution of a task. */
export const token = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))
/** Name of a wallet's listing. */
export const listing = v.pipe(v.string(), v.regex(/^0x[0-9a-f]{40}(\.atomic)?$/))
/** A job's name, as in job files. */
export const jobName = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/))
export const runId = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,63}-[0-9a-f]{16}$/))
export const version = v.pipe(v.string(), v.regex(/^walletlake [\w.+-]{1,64}$/))
/** A line without control characters, safe to print. */
export const printableLine = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(4096),
  v.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u),
)

export const bucketLocation: v.GenericSchema<unknown, BucketLocation> = v.pipe(
  v.strictObject({
    bucket: v.string(),
    prefix: v.union([v.literal(''), printableLine]),
    endpoint: v.optional(v.pipe(printableLine, v.url())),
    region: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/i))),
    pathStyle: v.optional(v.boolean()),
  }),
  v.check((destination) => {
    const named = parseBucketUrl(bucketUrl(destination))
    return named?.bucket === destination.bucket && named.prefix === destination.prefix
  }),
)

/** Parses a value; undefined if it does not match the schema. */
export function parseAs<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T | undefined {
  const parsed = v.safeParse(schema, value)
  return parsed.success ? parsed.output : undefined
}

/** Parses JSON text; undefined if it does not match the schema. */
export function parseTextAs<T>(schema: v.GenericSchema<unknown, T>, text: string | undefined): T | undefined {
  return text === undefined ? undefined : parseAs(schema, parseJson(text))
}
