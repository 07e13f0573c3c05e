import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { LARGE_BODIES_BYTES, SMALL_BODY_BYTES } from '../core/model/limits.ts'

/** Pauses and resumes the receipt of a response. */
export type FlowControl = { pause(): void; resume(): void }

/** A response body that is being received. */
export type ReceivedBody = {
  readonly chunks: readonly Buffer[]
  add(chunk: Buffer): void
  /** Releases the body's share of the memory budget, if it needed one. */
  release(): void
  readonly isLarge: boolean
}

export type ReceiveOptions = {
  /** Bytes to reserve in the memory budget, called once the body turns out to be large. */
  bytesToReserve: () => number
  flow: FlowControl
  maxBytes: number
  /** Called when the body exceeds `maxBytes`. */
  onExceeded: () => void
}

/**
 * Collects a body. Once it exceeds `SMALL_BODY_BYTES` it reserves `bytesToReserve()` bytes of the budget for
 * large bodies, and the response is paused until they are granted. A body reserves only once, so that bodies
 * cannot deadlock.
 */
export function receiveBody({ bytesToReserve, flow, maxBytes, onExceeded }: ReceiveOptions): ReceivedBody {
  const chunks: Buffer[] = []
  let bytes = 0
  let release: (() => void) | undefined
  const reserve = () => {
    let [isGranted, isPaused] = [false, false]
    release = largeBodyBudget.reserve(bytesToReserve(), () => {
      isGranted = true
      if (isPaused) flow.resume()
    })
    if (isGranted) return
    isPaused = true
    flow.pause()
  }
  return {
    chunks,
    add: (chunk) => {
      bytes += chunk.length
      if (bytes > maxBytes) return onExceeded()
      chunks.push(chunk)
      if (bytes > SMALL_BODY_BYTES && release === undefined) reserve()
    },
    release: () => release?.(),
    get isLarge() {
      return release !== undefined
    },
  }
}

/** Limits the memory of the large responses that are in flight at once. */
export type BodyBudget = {
  /**
   * Reserves `bytes`, capped at the whole budget. Calls `onGranted` once they are available, immediately or
   * later.
   *
   * @returns a function that releases the bytes, or cancels the reservation if it is still waiting; calling
   *   it again has no effect
   */
  reserve(bytes: number, onGranted: () => void): () => void
}

type Reservation = { bytes: number; onGranted: () => void }

/** Creates a budget that grants reservations first come, first served. */
export function createBodyBudget(totalBytes: number): BodyBudget {
  let used = 0
  const waiting: Reservation[] = []
  const granted = new Set<Reservation>()
  const grantWaiting = () => {
    for (let next = waiting[0]; next !== undefined && used + next.bytes <= totalBytes; next = waiting[0]) {
      waiting.shift()
      used += next.bytes
      granted.add(next)
      next.onGranted()
    }
  }
  return {
    reserve: (bytes, onGranted) => {
      const reservation = { bytes: Math.min(bytes, totalBytes), onGranted }
      waiting.push(reservation)
      grantWaiting()
      return () => {
        const index = waiting.indexOf(reservation)
        if (index >= 0) waiting.splice(index, 1)
        if (granted.delete(reservation)) used -= reservation.bytes
        grantWaiting()
      }
    },
  }
}

/** The budget of this process. All of its clients share it. */
export const largeBodyBudget = createBodyBudget(LARGE_BODIES_BYTES)

/** Reuses the memory of response bodies. Allocating a buffer for each response would fragment the heap. */
export type BufferPool = {
  /** Concatenates the chunks of a body. */
  join(chunks: readonly Buffer[]): Buffer
  /**
   * Returns a body's buffer to the pool. The caller must not use it afterwards. Buffers that the pool did not
   * allocate are ignored.
   */
  release(body: Buffer): void
}

/**
 * Size of a pooled buffer, in bytes. A page of 100 items has 70 to 350 KB. The unused rest of a buffer is
 * never touched, so it takes no physical memory.
 */
export const POOLED_BUFFER_BYTES = 2 ** 19
/** Smaller bodies, and those larger than a pooled buffer, get a buffer of exactly their size. */
const MIN_POOLED_BYTES = 2 ** 15
/** Maximum number of free buffers in the pool. */
const MAX_FREE_BUFFERS = 32

export function createBufferPool(): BufferPool {
  const free = new Set<ArrayBufferLike>()
  const acquireBuffer = () => {
    const [buffer] = free
    if (buffer === undefined) return Buffer.allocUnsafeSlow(POOLED_BUFFER_BYTES)
    free.delete(buffer)
    return Buffer.from(buffer)
  }
  return {
    join: (chunks) => {
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
      if (bytes < MIN_POOLED_BYTES || bytes > POOLED_BUFFER_BYTES) return Buffer.concat(chunks, bytes)
      const body = acquireBuffer()
      let end = 0
      for (const chunk of chunks) end += chunk.copy(body, end)
      return body.subarray(0, end)
    },
    release: ({ buffer }) => {
      if (isPooledBuffer(buffer) && free.size < MAX_FREE_BUFFERS) free.add(buffer)
    },
  }
}

/** Whether a buffer is from the pool. Such a buffer holds one body and nothing else. */
export const isPooledBuffer = (buffer: ArrayBufferLike): boolean => buffer.byteLength === POOLED_BUFFER_BYTES

type Decompressor = (compressed: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>

const gunzipAsync = promisify(gunzip)
const inflateAsync = promisify(inflate)
const inflateRawAsync = promisify(inflateRaw)

/** RFC 9110 section 8.4.1 defines `x-gzip` as an alias, and `deflate` as zlib's format; some servers send it raw. */
const DECOMPRESSORS: Readonly<Record<string, Decompressor>> = {
  gzip: gunzipAsync,
  'x-gzip': gunzipAsync,
  br: promisify(brotliDecompress),
  deflate: (compressed, limits) =>
    (hasZlibHeader(compressed) ? inflateAsync : inflateRawAsync)(compressed, limits),
}

export type CompressedBody = {
  bytes: Buffer
  /** The response's content-encoding, as received. */
  encoding: string | undefined
  /**
   * Maximum size of the decompressed body, in bytes. It protects against small responses that decompress to
   * more than the memory holds.
   */
  maxBytes: number
}

/**
 * Decompresses a body. A body with an unknown content-encoding is returned as received.
 *
 * @throws PAGE_MALFORMED if it cannot be decompressed or exceeds `maxBytes`
 */
export async function decompress({ bytes, encoding, maxBytes }: CompressedBody): Promise<Buffer> {
  const decompressor = decompressorFor(encoding)
  if (decompressor === undefined) return bytes
  try {
    return await decompressor(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if (isTooLarge(cause)) throw bodyTooLarge(maxBytes)
    throw new ExportError(
      'PAGE_MALFORMED',
      `the body cannot be decompressed (${bytes.length} bytes, ${encoding})`,
    )
  }
}

/** Like `decompress`, but returns undefined if the decompressed body exceeds `maxBytes`. */
export async function decompressSmall(compressed: CompressedBody): Promise<Buffer | undefined> {
  return decompress(compressed).catch((error: unknown) => {
    if (error instanceof ExportError && error.isPermanent) return undefined
    throw error
  })
}

/** Whether the content-encoding is one that `decompress` supports. */
export function isCompressed(encoding: string | undefined): boolean {
  return decompressorFor(encoding) !== undefined
}

const decompressorFor = (encoding = '') => DECOMPRESSORS[encoding.trim().toLowerCase()]

/** The first two bytes name compression method 8 and form a multiple of 31 (RFC 1950 section 2.2). */
function hasZlibHeader(compressed: Buffer): boolean {
  return compressed.length >= 2 && ((compressed[0] ?? 0) & 15) === 8 && compressed.readUInt16BE() % 31 === 0
}

const isTooLarge = (cause: unknown) => (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'

/** The error for a body that is larger than any page of the service. */
export function bodyTooLarge(maxBytes: number): ExportError {
  const what = `the body is larger than the limit of ${maxBytes} bytes`
  return new ExportError('PAGE_MALFORMED', what, { isPermanent: true, cause: new BodyTooLargeError(what) })
}

/** Cause of the error of an oversized body. A smaller page may stay within the limit. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}
