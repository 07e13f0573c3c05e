import { bodiesIn } from '../checkpoint/coalesced-records.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { openFiles } from './file-reader.ts'
import type { PagePlace } from './merge/page-source.ts'

/** Reads pages of the checkpoint, by blocking calls; the file stays open until `close`. */
export type Places = {
  /** The body there; of a stretch of blocks all bodies as one JSON list. Good until the next is read. Throws OUTPUT_FAILED. */
  read(place: PagePlace): Buffer
  close(): void
}

/** A page has some 100 KB. */
const USUAL_BYTES = 256 * 1024

export function openPlaces({ pagesFile }: { pagesFile: string }): Places {
  const files = openFiles()
  let room = Buffer.alloc(0)
  return {
    read: ({ wallet, offset, bytes }) => {
      if (room.length < bytes) room = Buffer.allocUnsafeSlow(Math.max(bytes, USUAL_BYTES))
      const body = files.read(pagesFile, offset, room.subarray(0, bytes))
      return wallet === BLOCKS ? bodiesIn(body) : body
    },
    close: files.close,
  }
}
