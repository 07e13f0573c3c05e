import type { S3Client } from '@aws-sdk/client-s3'
import type { BucketLocation } from '../core/model/model.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'

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

/** Creates the client; the SDK is loaded on first use. Credentials come from its default provider chain. */
export async function connectBucket(location: BucketLocation): Promise<BucketClient> {
  // The SDK's warning about old Node versions would appear between the output lines of every command.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const s3 = await import('@aws-sdk/client-s3')
  const client = clientOf(location, s3)
  const clock = { aheadMs: 0 }
  trackClock(client, clock)
  return { s3, client, location, keyOf: keyPrefixer(location), clock }
}

/** S3 endpoint from the environment; undefined for AWS. */
export function endpointFromEnv(): string | undefined {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
  return AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined
}

function clientOf(location: BucketLocation, { S3Client }: Sdk): S3Client {
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
    maxAttempts: RETRY_POLICIES.objectStore.retries + 1,
  })
}

const keyPrefixer = ({ prefix }: BucketLocation) => {
  const start = prefix === '' ? '' : `${prefix}/`
  return (path: string) => start + path
}

/** Updates the clock difference from the `Date` header of each response. */
function trackClock(client: S3Client, clock: { aheadMs: number }): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const { headers } = (result.response ?? {}) as { headers?: Record<string, string> }
      const at = Date.parse(headers?.date ?? '')
      if (!Number.isNaN(at)) clock.aheadMs = at - Date.now()
      return result
    },
    { step: 'deserialize', name: 'followClock' },
  )
}
