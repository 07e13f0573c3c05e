import { closeSync, openSync, readSync } from 'node:fs'
import { joinBodies } from '../checkpoint/listing-state.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { diskError } from '../core/platform/disk.ts'
import type { PageLocation } from './merge/page-items.ts'

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

/** Reads byte ranges of files synchronously. Files stay open until `close`. */
export type FileReader = {
  /**
   * Fills the buffer from `offset` on and returns it. Throws OUTPUT_FAILED if the file ends before the buffer
   * is full.
   */
  read(path: string, offset: number, buffer: Buffer): Buffer
  close(): void
}

export function openFileReader(): FileReader {
  const files = new Map<string, number>()
  return {
    read: (path, offset, buffer) => {
      const file = files.get(path) ?? openSync(path, 'r')
      files.set(path, file)
      if (readSync(file, buffer, 0, buffer.length, offset) < buffer.length)
        throw diskError(`cannot read ${path}`, new Error('unexpected end of file'))
      return buffer
    },
    close: () => {
      for (const file of files.values()) closeSync(file)
      files.clear()
    },
  }
}
