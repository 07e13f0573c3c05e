import type { S3Client } from '@aws-sdk/client-s3'
import type { BucketLocation } from '../core/model/model.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/** Times that a request is tried. */
export const MAX_ATTEMPTS = 5

/** A bucket's client, how it names objects, and how far the store's clock is ahead by its last answer. */
export type BucketClient = {
  clock: { aheadMs: number }
  s3: Sdk
  client: S3Client
  location: BucketLocation
  keyOf: (path: string) => string
}

/** Makes the client, which is loaded only now. Credentials are what its own chain finds. */
export async function connectBucket(location: BucketLocation): Promise<BucketClient> {
  // Who runs an old Node is told so by its own documents; here it would stand between the lines of every command.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const s3 = await import('@aws-sdk/client-s3')
  const client = clientOf(location, s3)
  const clock = { aheadMs: 0 }
  trackClock(client, clock)
  return { s3, client, location, keyOf: keyPrefixer(location), clock }
}

/** The endpoint of object stores that this process's environment names; undefined: AWS. */
export function endpointFromEnv(): string | undefined {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
  return AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined
}

function clientOf(location: BucketLocation, { S3Client }: Sdk): S3Client {
  const { AWS_REGION } = process.env
  const endpoint = location.endpoint ?? endpointFromEnv()
  // Others than AWS take no newer checksums, and any region.
  const isCustomEndpoint = endpoint !== undefined
  const region = location.region ?? AWS_REGION ?? (isCustomEndpoint ? 'us-east-1' : undefined)
  return new S3Client({
    ...(isCustomEndpoint && { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED' }),
    ...(isCustomEndpoint && { responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(region !== undefined && { region }),
    forcePathStyle: location.pathStyle ?? isCustomEndpoint,
    maxAttempts: MAX_ATTEMPTS,
  })
}

const keyPrefixer = ({ prefix }: BucketLocation) => {
  const start = prefix === '' ? '' : `${prefix}/`
  return (path: string) => start + path
}

/** Notes by each answer how far the store's clock is ahead. */
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
