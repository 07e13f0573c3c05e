import { joinBodies } from '../checkpoint/coalesced-records.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { openFileReader } from './file-reader.ts'
import type { PageLocation } from './merge/page-source.ts'

/** Reads pages of the checkpoint synchronously. The file stays open until `close`. */
export type PageReader = {
  /**
   * Returns the body at a location; for coalesced block pages, all bodies as one JSON list. The buffer is
   * reused by the next call. Throws OUTPUT_FAILED.
   */
  read(location: PageLocation): Buffer
  close(): void
}

/** A typical page has about 100 KB. */
const INITIAL_BUFFER_BYTES = 256 * 1024

export function openPageReader({ pagesFile }: { pagesFile: string }): PageReader {
  const files = openFileReader()
  let buffer = Buffer.alloc(0)
  return {
    read: ({ wallet, offset, bytes }) => {
      if (buffer.length < bytes) buffer = Buffer.allocUnsafeSlow(Math.max(bytes, INITIAL_BUFFER_BYTES))
      const body = files.read(pagesFile, offset, buffer.subarray(0, bytes))
      return wallet === BLOCKS ? joinBodies(body) : body
    },
    close: files.close,
  }
}
