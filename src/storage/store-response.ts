import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ExportError } from '../core/model/errors.ts'

/** A response before the SDK parses it. */
export type StoreResponse = {
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
export async function requireStoreResponse(
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
