import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { BucketLocation } from '../core/model/model.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'
import { requireStoreResponse, type StoreResponse } from './store-response.ts'

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
