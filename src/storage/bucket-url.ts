import { join } from 'node:path'
import type { BucketLocation, Job } from '../core/model/model.ts'

/** How a place in an object store begins. */
const SCHEME = /^s3:\/\//i
/** Names of buckets as stores have them: 3 to 63 of a-z, 0-9, dots and lines. */
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** True where a text is meant as a place in an object store. */
export const isBucketUrl = (text: string): boolean => SCHEME.test(text)

/** Reads `s3://bucket/prefix`; undefined where it is none. The prefix may be absent, and ends without a slash. */
export function parseBucketUrl(text: string): Pick<BucketLocation, 'bucket' | 'prefix'> | undefined {
  if (!isBucketUrl(text)) return undefined
  const [bucket = '', ...parts] = text.replace(SCHEME, '').replace(/\/+$/, '').split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\?#]/.test(part))
  return BUCKET_NAME.test(bucket) && isPlain ? { bucket, prefix: parts.join('/') } : undefined
}

/** A place, or an object in it, as users name it. */
export function bucketUrl({ bucket, prefix }: BucketLocation, path = ''): string {
  return `s3://${[bucket, prefix, path].filter((part) => part !== '').join('/')}`
}

/** A job's output as users name it. */
export const outputName = ({ output, store }: Pick<Job, 'output' | 'store'>): string =>
  store === undefined ? output : bucketUrl(store)

/** The folder of this machine for what is private to an output in an object store. */
export function workFolder({ bucket, prefix }: BucketLocation, stateFolder: string): string {
  return join(stateFolder, bucket, ...prefix.split('/'))
}
