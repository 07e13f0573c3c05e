import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { S3Client } from '@aws-sdk/client-s3'
import { ExportError } from '../core/model/errors.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'
import { SCRATCH_FIX } from '../core/platform/scratch-folder.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/**
 * An S3 client for a location. `keyOf` converts paths to object keys; `clock.aheadMs` is the lead of the
 * store's clock over the local one in its latest response.
 */
export type BucketClient = {
  clock: { aheadMs: number }
  s3: Sdk
  client: S3Client
  location: BucketLocation
  keyOf: (path: string) => string
}

/** Limits of every request to a bucket. */
export type BucketLimits = {
  /** After it is aborted, a request without a response ends within `GRACE_MS`, with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds without a connection, or without a byte on it, after which a request fails. @default 30000 */
  timeoutMs?: number
}

/**
 * Milliseconds that a request may still take after the signal is aborted: a store that responds can release the
 * lease and finish a publication.
 */
const GRACE_MS = 5_000

/** Creates the client; the SDK is loaded on first use. Credentials come from its default provider chain. */
export async function connectBucket(
  location: BucketLocation,
  limits: BucketLimits = {},
): Promise<BucketClient> {
  // The SDK's warning about old Node versions would appear between the output lines of every command.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const s3 = await import('@aws-sdk/client-s3')
  const client = clientOf(location, s3, limits)
  const clock = { aheadMs: 0 }
  checkResponses(client, location, clock)
  if (limits.signal !== undefined) endRequestsAfter(client, limits.signal)
  return { s3, client, location, keyOf: keyPrefixer(location), clock }
}

/** S3 endpoint from the environment; undefined for AWS. */
export function endpointFromEnv(): string | undefined {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
  return AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined
}

function clientOf(
  location: BucketLocation,
  { S3Client }: Sdk,
  { timeoutMs = 30_000 }: BucketLimits,
): S3Client {
  const { AWS_REGION } = process.env
  const endpoint = location.endpoint ?? endpointFromEnv()
  // Other stores than AWS do not support the newer checksums and accept any region.
  const isCustomEndpoint = endpoint !== undefined
  const region = location.region ?? AWS_REGION ?? (isCustomEndpoint ? 'us-east-1' : undefined)
  return new S3Client({
    ...(isCustomEndpoint && { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED' }),
    ...(isCustomEndpoint && { responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(region !== undefined && { region }),
    forcePathStyle: location.pathStyle ?? isCustomEndpoint,
    requestHandler: { connectionTimeout: timeoutMs, socketTimeout: timeoutMs },
    maxAttempts: RETRY_POLICIES.objectStore.retries + 1,
  })
}

const keyPrefixer = ({ prefix }: BucketLocation) => {
  const start = prefix === '' ? '' : `${prefix}/`
  return (path: string) => start + path
}

/** Checks that each response comes from an object store, and updates the clock difference from its `Date` header. */
function checkResponses(client: S3Client, location: BucketLocation, clock: { aheadMs: number }): void {
  const endpoint = location.endpoint ?? endpointFromEnv() ?? 'of AWS'
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next(args)
        const response = result.response as StoreResponse
        const at = Date.parse(response.headers.date ?? '')
        if (!Number.isNaN(at)) clock.aheadMs = at - Date.now()
        await requireStoreResponse(commandName, response, endpoint)
        return result
      },
    // The lowest priority of this step sees the response before the SDK parses it.
    { step: 'deserialize', priority: 'low', name: 'checkResponses' },
  )
}

/** Ends requests that have no complete response `GRACE_MS` after the signal is aborted; later ones fail at once. */
function endRequestsAfter(client: S3Client, signal: AbortSignal): void {
  const { requestHandler } = client.config
  const handle = requestHandler.handle.bind(requestHandler)
  let isUnresponsive = false
  requestHandler.handle = async (request, options) => {
    if (isUnresponsive) throw signal.reason
    const ending = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const end = () => {
      isUnresponsive = true
      ending.abort()
    }
    const startGrace = () => {
      timer = setTimeout(end, GRACE_MS)
    }
    const stop = () => {
      signal.removeEventListener('abort', startGrace)
      clearTimeout(timer)
    }
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace)
    try {
      const handled = await handle(request, { ...options, abortSignal: ending.signal })
      const body: unknown = handled.response.body
      if (body instanceof Readable) body.once('close', stop)
      else stop()
      return handled
    } catch (cause) {
      stop()
      throw ending.signal.aborted ? signal.reason : cause
    }
  }
}

/** A response before the SDK parses it. */
type StoreResponse = {
  statusCode: number
  headers: Readonly<Record<string, string>>
  body?: Readable | Uint8Array
}

/** Root elements of the responses that are documents. */
const ROOTS: ReadonlyMap<string, string> = new Map([
  ['ListObjectsV2Command', 'ListBucketResult'],
  ['ListMultipartUploadsCommand', 'ListMultipartUploadsResult'],
  ['DeleteObjectsCommand', 'DeleteResult'],
  ['CopyObjectCommand', 'CopyObjectResult'],
  ['CreateMultipartUploadCommand', 'InitiateMultipartUploadResult'],
  ['CompleteMultipartUploadCommand', 'CompleteMultipartUploadResult'],
])

/** Operations whose response states the version of the object that was written. */
const VERSIONED: ReadonlySet<string> = new Set(['PutObjectCommand', 'UploadPartCommand'])

/**
 * Requires evidence that a successful response comes from an object store: portals, proxies and other servers
 * answer any request with status 200. The SDK takes such a response for an empty one.
 *
 * @throws ExportError OUTPUT_FAILED
 */
async function requireStoreResponse(
  operation: string,
  response: StoreResponse,
  endpoint: string,
): Promise<void> {
  if (response.statusCode >= 300) return
  const lacks = (await isEvident(operation, response)) ? undefined : (ROOTS.get(operation) ?? 'ETag')
  if (lacks === undefined) return
  const type = (response.headers['content-type'] ?? 'no content type').slice(0, 80)
  const what = `${operation.replace(/Command$/, '')} with status ${response.statusCode} and ${type}, without ${lacks}`
  throw new ExportError('OUTPUT_FAILED', `the endpoint ${endpoint} is no object store: it answers ${what}`, {
    fix: 'Check the endpoint in the store of the job (or AWS_ENDPOINT_URL_S3): its port, its path, and proxies before it.',
  })
}

async function isEvident(operation: string, response: StoreResponse): Promise<boolean> {
  const { etag = '', 'content-type': type = '' } = response.headers
  if (VERSIONED.has(operation)) return etag !== ''
  if (operation === 'GetObjectCommand') return etag !== '' || !type.startsWith('text/html')
  const root = ROOTS.get(operation)
  if (root === undefined) return true
  const body = await bytesOf(response)
  response.body = body
  const [, name] = ROOT_ELEMENT.exec(body.subarray(0, 1_000).toString('utf8')) ?? []
  // Stores report some errors with status 200; the SDK recognizes them.
  return name === root || name === 'Error'
}

const ROOT_ELEMENT = /^\s*(?:<\?[^>]*>\s*)?<(?:[\w-]+:)?([\w-]+)/

async function bytesOf({ body = new Uint8Array() }: StoreResponse): Promise<Buffer> {
  return body instanceof Uint8Array ? Buffer.from(body) : buffer(body)
}

/** Throws OUTPUT_FAILED if a listing names a page again: it would never end. Adds the page to `seen`. */
export function requireNewPage(seen: Set<string>, token: string): void {
  if (seen.has(token))
    throw new ExportError('OUTPUT_FAILED', 'the object store repeats a continuation token of its listing', {
      fix: 'Check the endpoint in the store of the job (or AWS_ENDPOINT_URL_S3), and proxies before it.',
    })
  seen.add(token)
}

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
