import { closeSync, openSync, readSync } from 'node:fs'
import { diskError } from '../core/disk.ts'
import { BLOCKS } from '../core/listings.ts'
import type { PagePlace } from '../merge/page-source.ts'
import { bodiesIn } from '../spool/stretch.ts'

/** Reads pages of the checkpoint, by blocking calls; the file stays open until `close`. */
export type Places = {
  /** The body there; of a stretch of blocks all bodies as one JSON list. Good until the next is read. Throws OUTPUT_FAILED. */
  read(place: PagePlace): Buffer
  close(): void
}

/** A page has some 100 KB. */
const USUAL_BYTES = 256 * 1024

export function openPlaces({ pagesFile }: { pagesFile: string }): Places {
  let file: number | undefined
  let room = Buffer.alloc(0)
  return {
    read: ({ wallet, offset, bytes }) => {
      file ??= openSync(pagesFile, 'r')
      if (room.length < bytes) room = Buffer.allocUnsafeSlow(Math.max(bytes, USUAL_BYTES))
      const body = room.subarray(0, bytes)
      if (readSync(file, body, 0, bytes, offset) < bytes)
        throw diskError(`cannot read ${pagesFile}`, new Error('it ends too early'))
      return wallet === BLOCKS ? bodiesIn(body) : body
    },
    close: () => {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}
