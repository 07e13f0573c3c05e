import { createReadStream, createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { GetObjectCommandOutput, ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import { isSafePath, resolveInside } from '../core/model/export-path.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { makeParentFolder } from '../core/platform/disk.ts'
import { openHashStream } from '../core/platform/hash-stream.ts'
import { RETRY_POLICIES, retry } from '../core/platform/retry.ts'
import {
  type BucketClient,
  type BucketLimits,
  connectBucket,
  isBodyLost,
  isConflict,
  isNotFound,
  isPreconditionFailed,
  requireNewPage,
  storeError,
} from './bucket-client.ts'
import { bucketUrl } from './bucket-url.ts'

/** A small object. Its version changes with every write. */
type StoredText = { text: string; version: string; writtenMs: number }

/** Condition for a write: the object does not exist, or still has this version. */
type Condition = { ifAbsent: true } | { ifVersion: string }

/**
 * The objects below a location. Paths are relative to it, with forward slashes. All methods throw
 * OUTPUT_FAILED.
 */
export type Bucket = {
  /** Name of the location in messages. */
  readonly name: string
  readText(path: string): Promise<StoredText | undefined>
  /** Reads a small object of any bytes; undefined if it does not exist. */
  read(path: string): Promise<Buffer | undefined>
  /** Writes a small object unless there is one with its name; resolves with false if there is. */
  create(path: string, content: Uint8Array): Promise<boolean>
  /** Writes a small object; resolves with its version, or with undefined if the condition is not met. */
  putText(path: string, text: string, condition?: Condition): Promise<string | undefined>
  /**
   * Writes the text of an object again if it has this version; resolves with its new version, or with undefined
   * if it has another one. Reads may be stale; a conditional write is not.
   */
  confirm(path: string, text: string, version: string): Promise<string | undefined>
  /** Uploads a file, in parts if it is large. The object becomes visible as a whole or not at all. */
  putFile(path: string, from: string): Promise<void>
  /** Copies an object within the store. */
  copy(from: string, to: string): Promise<void>
  /**
   * Downloads an object to the same path inside a folder; resolves with its SHA-256, or with undefined if it
   * does not exist. Throws VERIFY_FAILED for a path that could point outside the folder.
   */
  fetch(path: string, folder: string): Promise<string | undefined>
  /** Sizes of the objects whose paths start with `start`, by path. Unsafe paths are omitted. */
  sizes(start: string): Promise<Map<string, number>>
  remove(paths: readonly string[]): Promise<void>
  /** Aborts unfinished multipart uploads of the selected paths; other uploads may still be running. */
  abortUploads(isAbandoned: (path: string) => boolean): Promise<void>
  /** The store's clock in milliseconds since 1970, from its latest response. */
  now(): number
  close(): void
}

/**
 * Part size of multipart uploads, and the number of concurrent parts. Their product is the memory that an
 * upload takes.
 */
const PART_BYTES = 8 * 1024 * 1024
const CONCURRENT_PARTS = 3
/** Maximum number of objects per delete request. */
const DELETE_BATCH_SIZE = 1_000

/**
 * Opens a location in an object store. Loads the S3 client on first use; credentials come from its default
 * provider chain.
 */
export async function openBucket(location: BucketLocation, limits?: BucketLimits): Promise<Bucket> {
  const bucket = await connectBucket(location, limits)
  return {
    name: bucketUrl(location),
    readText: (path) => readText(bucket, path),
    read: (path) => readBytes(bucket, path),
    create: (path, content) => createObject(bucket, path, content),
    putText: (path, text, condition) => putText(bucket, { path, content: text, condition }),
    confirm: (path, text, version) => put(bucket, { path, content: text, condition: { ifVersion: version } }),
    putFile: (path, from) => putFile(bucket, path, from),
    copy: (from, to) => copyObject(bucket, from, to),
    fetch: async (path, folder) => fetchObject(bucket, path, resolveInside(folder, path)),
    sizes: (start) => listSizes(bucket, start),
    remove: (paths) => removeObjects(bucket, paths),
    abortUploads: (isAbandoned) => abortUploads(bucket, isAbandoned),
    now: () => Date.now() + bucket.clock.aheadMs,
    close: () => bucket.client.destroy(),
  }
}

function readText(bucket: BucketClient, path: string): Promise<StoredText | undefined> {
  return receive(bucket, path, async ({ Body, ETag, LastModified }) => {
    const text = (await Body?.transformToString('utf8')) ?? ''
    return { text, version: versionOf(ETag), writtenMs: LastModified?.getTime() ?? 0 }
  })
}

function readBytes(bucket: BucketClient, path: string): Promise<Buffer | undefined> {
  return receive(bucket, path, async ({ Body }) =>
    Buffer.from((await Body?.transformToByteArray()) ?? new Uint8Array()),
  )
}

/** If the response to a successful write was lost, the retry fails because of that write: compare the content. */
async function createObject(bucket: BucketClient, path: string, content: Uint8Array): Promise<boolean> {
  if ((await put(bucket, { path, content, condition: { ifAbsent: true } })) !== undefined) return true
  return (await readBytes(bucket, path))?.equals(content) === true
}

/** Requests an object and uses the response; undefined if the object does not exist. */
async function receive<T>(
  bucket: BucketClient,
  path: string,
  use: (response: GetObjectCommandOutput) => Promise<T>,
): Promise<T | undefined> {
  const { s3, client, location, keyOf } = bucket
  const get = { Bucket: location.bucket, Key: keyOf(path) }
  try {
    // The SDK retries requests, but not a connection that is lost while a body arrives.
    return await retry(
      RETRY_POLICIES.objectStore,
      async () => use(await client.send(new s3.GetObjectCommand(get))),
      { isRetryable: isBodyLost },
    )
  } catch (cause) {
    if (isNotFound(cause)) return undefined
    throw storeError(`cannot read ${bucketUrl(location, path)}`, cause)
  }
}

/** Some servers compare versions without quotes; all servers accept them without. */
const versionOf = (etag: string | undefined) => (etag ?? '').replaceAll('"', '')

type PutOptions = { path: string; content: string | Uint8Array; condition?: Condition | undefined }

/** Compares the content like `createObject`. */
async function putText(
  bucket: BucketClient,
  options: PutOptions & { content: string },
): Promise<string | undefined> {
  const version = await put(bucket, options)
  if (version !== undefined) return version
  const stored = await readText(bucket, options.path)
  return stored?.text === options.content ? stored.version : undefined
}

/** Resolves with the version, or with undefined if the condition is not met. */
async function put(
  bucket: BucketClient,
  { path, content, condition }: PutOptions,
): Promise<string | undefined> {
  const { s3, client, location, keyOf } = bucket
  const request = { Bucket: location.bucket, Key: keyOf(path), Body: content, ...conditionOf(condition) }
  try {
    // A conflict means that another write of the same object is in progress.
    const { ETag } = await retry(
      RETRY_POLICIES.objectStore,
      () => client.send(new s3.PutObjectCommand(request)),
      { isRetryable: isConflict },
    )
    return versionOf(ETag)
  } catch (cause) {
    if (isPreconditionFailed(cause)) return undefined
    throw storeError(`cannot write ${bucketUrl(location, path)}`, cause)
  }
}

function conditionOf(condition: Condition | undefined) {
  if (condition === undefined) return {}
  return 'ifAbsent' in condition ? { IfNoneMatch: '*' } : { IfMatch: condition.ifVersion }
}

async function putFile({ client, location, keyOf }: BucketClient, path: string, from: string): Promise<void> {
  const { Upload } = await import('@aws-sdk/lib-storage')
  const body = createReadStream(from, { highWaterMark: 1 << 20 })
  try {
    const params = { Bucket: location.bucket, Key: keyOf(path), Body: body }
    await new Upload({ client, params, partSize: PART_BYTES, queueSize: CONCURRENT_PARTS }).done()
  } catch (cause) {
    throw storeError(`cannot write ${bucketUrl(location, path)}`, cause)
  } finally {
    body.destroy()
  }
}

/** Copies within the store, without downloading. */
async function copyObject(
  { s3, client, location, keyOf }: BucketClient,
  from: string,
  to: string,
): Promise<void> {
  const source = [location.bucket, ...keyOf(from).split('/')].map(encodeURIComponent).join('/')
  try {
    const copy = { Bucket: location.bucket, Key: keyOf(to), CopySource: source }
    await client.send(new s3.CopyObjectCommand(copy))
  } catch (cause) {
    throw storeError(`cannot write ${bucketUrl(location, to)}`, cause)
  }
}

function fetchObject(bucket: BucketClient, path: string, to: string): Promise<string | undefined> {
  return receive(bucket, path, async ({ Body }) => {
    const { stream, sha256 } = openHashStream()
    await makeParentFolder(to)
    await pipeline(Body as Readable, stream, createWriteStream(to))
    return sha256()
  })
}

async function listSizes(
  { s3, client, location, keyOf }: BucketClient,
  start: string,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const prefixLength = keyOf('').length
  try {
    const tokens = new Set<string>()
    let token: string | undefined
    do {
      if (token !== undefined) requireNewPage(tokens, token)
      const request = { Bucket: location.bucket, Prefix: keyOf(start), ContinuationToken: token }
      const page = await client.send(new s3.ListObjectsV2Command(request))
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        const path = Key.slice(prefixLength)
        if (isSafePath(path)) sizes.set(path, Size)
      }
      token = page.NextContinuationToken
    } while (token !== undefined)
    return sizes
  } catch (cause) {
    throw storeError(`cannot list ${bucketUrl(location)}`, cause)
  }
}

async function removeObjects(
  { s3, client, location, keyOf }: BucketClient,
  paths: readonly string[],
): Promise<void> {
  try {
    for (let at = 0; at < paths.length; at += DELETE_BATCH_SIZE) {
      const Objects = paths.slice(at, at + DELETE_BATCH_SIZE).map((path) => ({ Key: keyOf(path) }))
      const request = { Bucket: location.bucket, Delete: { Objects, Quiet: true } }
      const [error] = (await client.send(new s3.DeleteObjectsCommand(request))).Errors ?? []
      if (error !== undefined) throw new Error(`${error.Key}: ${error.Code}`)
    }
  } catch (cause) {
    throw storeError(`cannot remove from ${bucketUrl(location)}`, cause)
  }
}

/** Aborts unfinished multipart uploads of the selected paths. Throws OUTPUT_FAILED. */
async function abortUploads(bucket: BucketClient, isAbandoned: (path: string) => boolean): Promise<void> {
  const { s3, client, location, keyOf } = bucket
  const request = { Bucket: location.bucket, Prefix: keyOf('') }
  const prefixLength = keyOf('').length
  try {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
    const pages = new Set<string>()
    while (from !== undefined) {
      requireNewPage(pages, `${from.KeyMarker} ${from.UploadIdMarker}`)
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new s3.ListMultipartUploadsCommand({ ...request, ...from }),
      )
      for (const { Key = '', UploadId } of page.Uploads ?? [])
        if (isAbandoned(Key.slice(prefixLength))) await abortUpload(bucket, { Key, UploadId })
      const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      from = page.IsTruncated ? next : undefined
    }
  } catch (cause) {
    throw storeError(`cannot abort unfinished uploads to ${bucketUrl(location)}`, cause)
  }
}

type StartedUpload = { Key: string; UploadId: string | undefined }

async function abortUpload({ s3, client, location }: BucketClient, upload: StartedUpload): Promise<void> {
  try {
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket: location.bucket, ...upload }))
  } catch (cause) {
    if (!isNotFound(cause)) throw cause
  }
}
