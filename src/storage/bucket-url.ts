import { join } from 'node:path'
import type { BucketLocation, Job } from '../core/model/model.ts'

/** Start of a URL in an object store. */
const SCHEME = /^s3:\/\//i
/** Valid bucket names: 3 to 63 characters of a-z, 0-9, dots and hyphens. */
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** Whether a text is meant as a location in an object store. */
export const isBucketUrl = (text: string): boolean => SCHEME.test(text)

/**
 * Parses `s3://bucket/prefix`; undefined if the URL is invalid. The prefix may be empty and has no trailing
 * slash.
 */
export function parseBucketUrl(text: string): Pick<BucketLocation, 'bucket' | 'prefix'> | undefined {
  if (!isBucketUrl(text)) return undefined
  const [bucket = '', ...parts] = text.replace(SCHEME, '').replace(/\/+$/, '').split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\?#]/.test(part))
  return BUCKET_NAME.test(bucket) && isPlain ? { bucket, prefix: parts.join('/') } : undefined
}

/** Formats a location, or an object in it, as an `s3://` URL. */
export function bucketUrl({ bucket, prefix }: BucketLocation, path = ''): string {
  return `s3://${[bucket, prefix, path].filter((part) => part !== '').join('/')}`
}

/** Formats a job's output for messages. */
export const outputName = ({ output, store }: Pick<Job, 'output' | 'store'>): string =>
  store === undefined ? output : bucketUrl(store)

/** Local folder for the private files of an output in an object store. */
export function workFolder({ bucket, prefix }: BucketLocation, stateFolder: string): string {
  return join(stateFolder, bucket, ...prefix.split('/'))
}
