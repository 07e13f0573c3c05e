import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { ExportError } from '../core/errors.ts'

type Unpacker = (packed: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>

const UNPACKERS: Readonly<Record<string, Unpacker>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
}

export type Packed = {
  bytes: Buffer
  /** The answer's content-encoding, as it came. */
  encoding: string | undefined
  /** Bytes that the unpacked body may have: a small answer may unpack to more than the memory holds. */
  maxBytes: number
}

/**
 * Undoes a content-encoding; one that nobody asked for leaves the bytes as they are. Throws PAGE_MALFORMED where they
 * do not unpack, or unpack to too much.
 */
export async function unpack({ bytes, encoding = '', maxBytes }: Packed): Promise<Buffer> {
  const unpacker = UNPACKERS[encoding.trim().toLowerCase()]
  if (unpacker === undefined) return bytes
  try {
    return await unpacker(bytes, { maxOutputLength: maxBytes })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new ExportError('PAGE_MALFORMED', `the body does not unpack (${bytes.length} bytes, ${encoding})`)
  }
}

/** The failure of a body that is larger than anything that an interface of pages answers. */
export function tooLarge(maxBytes: number): ExportError {
  return new ExportError('PAGE_MALFORMED', `the body is larger than ${maxBytes} bytes`)
}
