import { ExportError } from '../core/model/errors.ts'
import { SCRATCH_FIX } from '../core/platform/scratch-folder.ts'

type SdkError = Error & { $metadata?: { httpStatusCode?: number }; code?: string; Code?: string }

const statusOf = (cause: unknown) => (cause as SdkError).$metadata?.httpStatusCode

/** The object does not exist. A missing bucket is an error instead. */
export const isNotFound = (cause: unknown): boolean =>
  statusOf(cause) === 404 && (cause as SdkError).name !== 'NoSuchBucket'

/** The condition of a write was not met. */
export const isPreconditionFailed = (cause: unknown): boolean => statusOf(cause) === 412

/** Two writes conflicted; the request can be retried. */
export const isConflict = (cause: unknown): boolean => statusOf(cause) === 409

/**
 * The connection was lost while the body of a response arrived. Errors of requests, which the SDK has retried,
 * have metadata.
 */
export function isBodyLost(cause: unknown): boolean {
  const { $metadata, code = '', name } = cause as SdkError
  return $metadata === undefined && (LOST_CODES.has(code) || name === 'TimeoutError')
}

const LOST_CODES = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ETIMEDOUT'])

/**
 * Converts an error of the S3 client to OUTPUT_FAILED with a fix.
 *
 * @param action What was attempted, such as `cannot write s3://lake/out`.
 */
export function storeError(action: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const { name, code, message } = cause as SdkError
  const status = statusOf(cause)
  const reason = status === undefined ? (code ?? unansweredReason(name) ?? message) : `${name} (${status})`
  return new ExportError('OUTPUT_FAILED', `${action}: ${reason}`, {
    cause,
    fix: fixOf(cause as SdkError, status),
  })
}

const unansweredReason = (name: string) =>
  name === 'TimeoutError' ? 'the store does not answer in time' : undefined

/** Error codes of the local disk that objects are downloaded to. */
const LOCAL_DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EFBIG'])

function fixOf({ name, message, code }: SdkError, status: number | undefined): string {
  if (name === 'CredentialsProviderError')
    return 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role provides credentials.'
  if (/region is missing/i.test(message)) return 'Set AWS_REGION, or region in the store of the job.'
  if (name === 'NoSuchBucket') return 'Create the bucket, or correct its name in output.'
  if (status === 401 || status === 403)
    return 'Grant these credentials permission to list, read, write and delete objects under this prefix.'
  if (LOCAL_DISK_CODES.has(code ?? '')) return SCRATCH_FIX
  if (status === undefined && (code !== undefined || name === 'TimeoutError'))
    return 'Check the endpoint in the store of the job (or AWS_ENDPOINT_URL_S3), and that it is reachable.'
  return 'Run the same command again: it resumes where it stopped.'
}
