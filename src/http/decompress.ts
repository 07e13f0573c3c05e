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
  /** Bytes that the unpacked body may have: a small response may unpack to more than the memory holds. */
  maxBytes: number
}

/**
 * Undoes a content-encoding; an unknown one leaves the bytes as they are. Throws PAGE_MALFORMED where they do not unpack,
 * or unpack to too much.
 */
export async function decompress({ bytes, encoding, maxBytes }: CompressedBody): Promise<Buffer> {
  const decompressor = decompressorFor(encoding)
  if (decompressor === undefined) return bytes
  try {
    return await decompressor(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if (isTooLarge(cause)) throw bodyTooLarge(maxBytes)
    throw new ExportError('PAGE_MALFORMED', `the body does not unpack (${bytes.length} bytes, ${encoding})`)
  }
}

/** The same, but undefined where the body has more than `maxBytes`. */
export async function decompressSmall(compressed: CompressedBody): Promise<Buffer | undefined> {
  return decompress(compressed).catch((thrown: unknown) => {
    if (thrown instanceof ExportError && thrown.isPermanent) return undefined
    throw thrown
  })
}

/** Whether a response with this content-encoding is compressed, as far as it can be undone here. */
export function isCompressed(encoding: string | undefined): boolean {
  return decompressorFor(encoding) !== undefined
}

const decompressorFor = (encoding = '') => DECOMPRESSORS[encoding.trim().toLowerCase()]

/** The two first bytes name method 8 and are a multiple of 31 (RFC 1950 section 2.2). */
function hasZlibHeader(compressed: Buffer): boolean {
  return compressed.length >= 2 && ((compressed[0] ?? 0) & 15) === 8 && compressed.readUInt16BE() % 31 === 0
}

const isTooLarge = (cause: unknown) => (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'

/** The failure of a body that is larger than anything that an interface of pages sends. */
export function bodyTooLarge(maxBytes: number): ExportError {
  const what = `the body is larger than the limit of ${maxBytes} bytes`
  return new ExportError('PAGE_MALFORMED', what, { isPermanent: true, cause: new BodyTooLargeError(what) })
}

/** Cause of the failure of a body that exceeds its limit: a smaller page may stay within it. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}
