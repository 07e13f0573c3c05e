import { createReadStream, createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { isSafePath, resolveInside } from '../core/model/export-path.ts'
import type { BucketLocation } from '../core/model/model.ts'
import { makeParentFolder } from '../core/platform/disk.ts'
import { openHashStream } from '../core/platform/hash-stream.ts'
import { type BucketClient, connectBucket, MAX_ATTEMPTS } from './bucket-client.ts'
import { isConflict, isConnectionLost, isNotFound, isPreconditionFailed, storeError } from './bucket-error.ts'
import { abortUploads } from './bucket-uploads.ts'
import { bucketUrl } from './bucket-url.ts'

/** A small object, and which one it is: the version changes with every writing. */
type StoredText = { text: string; version: string; writtenMs: number }

/** What must hold for an object to be written: that there is none, or that it is still this version. */
type Condition = { ifAbsent: true } | { ifVersion: string }

/** The objects below a place; paths are relative to it, with forward slashes. Everything throws OUTPUT_FAILED. */
export type Bucket = {
  /** As users name it. */
  readonly name: string
  readText(path: string): Promise<StoredText | undefined>
  /** Writes a small object; resolves with its version, or with undefined where the condition does not hold. */
  putText(path: string, text: string, condition?: Condition): Promise<string | undefined>
  /** Writes a file, in parts where it is large; all of it is there, or nothing. */
  putFile(path: string, from: string): Promise<void>
  /** Gives an object a second name, within the store. */
  copy(from: string, to: string): Promise<void>
  /**
   * Writes an object to the file of the same path below a folder; resolves with its SHA-256, or with undefined where there is none.
   * Throws VERIFY_FAILED for a path that could lead out of the folder.
   */
  fetch(path: string, folder: string): Promise<string | undefined>
  /** Bytes by path of the objects whose paths begin so. Objects whose paths could lead out of a folder are left out. */
  sizes(start: string): Promise<Map<string, number>>
  remove(paths: readonly string[]): Promise<void>
  /** Gives up uploads in parts that were begun and never ended, of these paths only: others may be under way. */
  abortUploads(isAbandoned: (path: string) => boolean): Promise<void>
  /** The store's clock, milliseconds since 1970, by its last answer. */
  now(): number
  close(): void
}

/** Bytes of a part of a large upload, and how many are under way at once: so much memory an upload takes. */
const PART_BYTES = 8 * 1024 * 1024
const CONCURRENT_PARTS = 3
/** A writing that met another one is tried again after so long, and longer each time. */
const RETRY_DELAY_MS = 100
/** Objects that one request removes, at most. */
const DELETE_BATCH_SIZE = 1_000

/** Opens a place in an object store; the client is loaded only now. Credentials are what the client's own chain finds. */
export async function openBucket(location: BucketLocation): Promise<Bucket> {
  const bucket = await connectBucket(location)
  return {
    name: bucketUrl(location),
    readText: (path) => readText(bucket, path),
    putText: (path, text, condition) => putText(bucket, { path, text, condition }),
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

async function readText(
  { s3, client, location, keyOf }: BucketClient,
  path: string,
): Promise<StoredText | undefined> {
  try {
    const found = await client.send(new s3.GetObjectCommand({ Bucket: location.bucket, Key: keyOf(path) }))
    const text = (await found.Body?.transformToString('utf8')) ?? ''
    return { text, version: versionOf(found.ETag), writtenMs: found.LastModified?.getTime() ?? 0 }
  } catch (cause) {
    if (isNotFound(cause)) return undefined
    throw storeError(`cannot read ${bucketUrl(location, path)}`, cause)
  }
}

/** Some servers compare the version without its quotes, and none minds that. */
const versionOf = (etag: string | undefined) => (etag ?? '').replaceAll('"', '')

type PutOptions = { path: string; text: string; condition?: Condition | undefined }

async function putText(
  bucket: BucketClient,
  { path, text, condition }: PutOptions,
): Promise<string | undefined> {
  const { s3, client, location, keyOf } = bucket
  for (let attempt = 1; ; attempt += 1) {
    try {
      const put = { Bucket: location.bucket, Key: keyOf(path), Body: text, ...conditionOf(condition) }
      return versionOf((await client.send(new s3.PutObjectCommand(put))).ETag)
    } catch (cause) {
      if (isPreconditionFailed(cause)) return await versionIfWritten(bucket, path, text)
      if (!isConflict(cause) || attempt === MAX_ATTEMPTS)
        throw storeError(`cannot write ${bucketUrl(location, path)}`, cause)
      // It met another writing, which has to end first.
      await wait(RETRY_DELAY_MS * attempt)
    }
  }
}

/** A try whose answer was lost may have written it: then the next try is refused because of this one. */
async function versionIfWritten(
  bucket: BucketClient,
  path: string,
  text: string,
): Promise<string | undefined> {
  const found = await readText(bucket, path)
  return found?.text === text ? found.version : undefined
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

/** Within the store; no bytes pass this machine. */
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

async function fetchObject(bucket: BucketClient, path: string, to: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await download(bucket, path, to)
    } catch (cause) {
      if (isNotFound(cause)) return undefined
      // The client tries requests again, but not what breaks off in the midst of an answer.
      if (!isConnectionLost(cause) || attempt === MAX_ATTEMPTS)
        throw storeError(`cannot read ${bucketUrl(bucket.location, path)}`, cause)
    }
  }
}

async function download(
  { s3, client, location, keyOf }: BucketClient,
  path: string,
  to: string,
): Promise<string> {
  const found = await client.send(new s3.GetObjectCommand({ Bucket: location.bucket, Key: keyOf(path) }))
  const { stream, sha256 } = openHashStream()
  await makeParentFolder(to)
  await pipeline(found.Body as Readable, stream, createWriteStream(to))
  return sha256()
}

async function listSizes(
  { s3, client, location, keyOf }: BucketClient,
  start: string,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const prefixLength = keyOf('').length
  try {
    let token: string | undefined
    do {
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
