import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'

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
  return decompress(compressed).catch((thrown: unknown) => {
    if (thrown instanceof ExportError && thrown.isPermanent) return undefined
    throw thrown
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
