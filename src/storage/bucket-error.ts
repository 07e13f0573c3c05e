import { ExportError } from '../core/model/errors.ts'
import { SCRATCH_FIX } from '../core/platform/scratch-folder.ts'

type SdkError = Error & { $metadata?: { httpStatusCode?: number }; code?: string; Code?: string }

const statusOf = (cause: unknown) => (cause as SdkError).$metadata?.httpStatusCode

/** An object is not there; a bucket that is not there is a fault. */
export const isNotFound = (cause: unknown): boolean =>
  statusOf(cause) === 404 && (cause as SdkError).name !== 'NoSuchBucket'

/** Another one was first. */
export const isPreconditionFailed = (cause: unknown): boolean => statusOf(cause) === 412

/** Two writings met: the same may be tried again. */
export const isConflict = (cause: unknown): boolean => statusOf(cause) === 409

/** An answer ended in its midst. */
export const isConnectionLost = (cause: unknown): boolean =>
  ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ETIMEDOUT'].includes((cause as SdkError).code ?? '')

/** Gives a fault of an object store its code, words and fix. */
export function storeError(action: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause
  const { name, code, message } = cause as SdkError
  const status = statusOf(cause)
  const reason = status === undefined ? (code ?? message) : `${name} (${status})`
  return new ExportError('OUTPUT_FAILED', `${action}: ${reason}`, {
    cause,
    fix: fixOf(cause as SdkError, status),
  })
}

/** Of the disk that objects are copied to. */
const LOCAL_DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EFBIG'])

function fixOf({ name, message, code }: SdkError, status: number | undefined): string {
  if (name === 'CredentialsProviderError')
    return 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role gives credentials.'
  if (/region is missing/i.test(message)) return 'Set AWS_REGION, or region in the store of the job.'
  if (name === 'NoSuchBucket') return 'Create the bucket, or correct its name in output.'
  if (status === 401 || status === 403)
    return 'Give these credentials the right to list, read, write and delete below this place.'
  if (LOCAL_DISK_CODES.has(code ?? '')) return SCRATCH_FIX
  if (status === undefined && code !== undefined)
    return 'Check the endpoint in the store of the job (or AWS_ENDPOINT_URL_S3), and that it can be reached.'
  return 'Run the same command again: it resumes where it stopped.'
}
