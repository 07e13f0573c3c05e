import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'

type Unpacker = (packed: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>

const ungzip = promisify(gunzip)
const unzlib = promisify(inflate)
const unraw = promisify(inflateRaw)

/** RFC 9110 section 8.4.1 defines `x-gzip` as an alias, and `deflate` as zlib's format; some servers send it raw. */
const UNPACKERS: Readonly<Record<string, Unpacker>> = {
  gzip: ungzip,
  'x-gzip': ungzip,
  br: promisify(brotliDecompress),
  deflate: (packed, limits) => (hasZlibHeader(packed) ? unzlib : unraw)(packed, limits),
}

export type Packed = {
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
export async function unpack({ bytes, encoding, maxBytes }: Packed): Promise<Buffer> {
  const unpacker = unpackerOf(encoding)
  if (unpacker === undefined) return bytes
  try {
    return await unpacker(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if (isTooLarge(cause)) throw tooLarge(maxBytes)
    throw new ExportError('PAGE_MALFORMED', `the body does not unpack (${bytes.length} bytes, ${encoding})`)
  }
}

/** The same, but undefined where the body has more than `maxBytes`. */
export async function unpackSmall(packed: Packed): Promise<Buffer | undefined> {
  return unpack(packed).catch((thrown: unknown) => {
    if (thrown instanceof ExportError && thrown.isPermanent) return undefined
    throw thrown
  })
}

/** Whether a response with this content-encoding is compressed, as far as it can be undone here. */
export function isPacked(encoding: string | undefined): boolean {
  return unpackerOf(encoding) !== undefined
}

const unpackerOf = (encoding = '') => UNPACKERS[encoding.trim().toLowerCase()]

/** The two first bytes name method 8 and are a multiple of 31 (RFC 1950 section 2.2). */
function hasZlibHeader(packed: Buffer): boolean {
  return packed.length >= 2 && ((packed[0] ?? 0) & 15) === 8 && packed.readUInt16BE() % 31 === 0
}

const isTooLarge = (cause: unknown) => (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'

/** The failure of a body that is larger than anything that an interface of pages sends. */
export function tooLarge(maxBytes: number): ExportError {
  const what = `the body is larger than the limit of ${maxBytes} bytes`
  return new ExportError('PAGE_MALFORMED', what, { isPermanent: true, cause: new BodyTooLargeError(what) })
}

/** Cause of the failure of a body that exceeds its limit: a smaller page may stay within it. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}
