import type { S3Client } from '@aws-sdk/client-s3'
import type { BucketPlace } from '../core/model/model.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/** Times that a request is tried. */
export const TRIES = 5

/** A bucket's client, how it names objects, and how far the store's clock is ahead by its last answer. */
export type OpenedBucket = {
  clock: { aheadMs: number }
  s3: Sdk
  client: S3Client
  place: BucketPlace
  keyOf: (path: string) => string
}

/** Makes the client, which is loaded only now. Credentials are what its own chain finds. */
export async function connectBucket(place: BucketPlace): Promise<OpenedBucket> {
  // Who runs an old Node is told so by its own documents; here it would stand between the lines of every command.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const s3 = await import('@aws-sdk/client-s3')
  const client = clientOf(place, s3)
  const clock = { aheadMs: 0 }
  followClock(client, clock)
  return { s3, client, place, keyOf: keysUnder(place), clock }
}

/** The endpoint of object stores that this process's environment names; undefined: AWS. */
export function ownEndpoint(): string | undefined {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env
  return AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || undefined
}

function clientOf(place: BucketPlace, { S3Client }: Sdk): S3Client {
  const { AWS_REGION } = process.env
  const endpoint = place.endpoint ?? ownEndpoint()
  // Others than AWS take no newer checksums, and any region.
  const isOther = endpoint !== undefined
  const region = place.region ?? AWS_REGION ?? (isOther ? 'us-east-1' : undefined)
  return new S3Client({
    ...(isOther && { endpoint, requestChecksumCalculation: 'WHEN_REQUIRED' }),
    ...(isOther && { responseChecksumValidation: 'WHEN_REQUIRED' }),
    ...(region !== undefined && { region }),
    forcePathStyle: place.pathStyle ?? isOther,
    maxAttempts: TRIES,
  })
}

const keysUnder = ({ prefix }: BucketPlace) => {
  const start = prefix === '' ? '' : `${prefix}/`
  return (path: string) => start + path
}

/** Notes by each answer how far the store's clock is ahead. */
function followClock(client: S3Client, clock: { aheadMs: number }): void {
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
