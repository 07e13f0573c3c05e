import { closeSync, openSync, readSync } from 'node:fs'
import { diskError } from '../core/disk.ts'
import { BLOCKS } from '../core/listings.ts'
import type { SourcePlace } from '../merge/source-place.ts'
import { bodiesIn } from '../spool/stretch.ts'

export type PlaceFiles = {
  /** The checkpoint with the pages. */
  pagesFile: string
  /** Runs of items that were sorted because too many pages overlapped. */
  runsFile: string
}

/** Reads what lies at a place, by blocking calls; files stay open until `close`. */
export type Places = {
  /** The body there; of a stretch of blocks all bodies as one JSON list. Good until the next is read. Throws OUTPUT_FAILED. */
  read(place: SourcePlace): Buffer
  close(): void
}

/** A page has some 100 KB. */
const USUAL_BYTES = 256 * 1024

export function openPlaces({ pagesFile, runsFile }: PlaceFiles): Places {
  const files = new Map<string, number>()
  let room = Buffer.alloc(0)
  return {
    read: ({ wallet, offset, bytes }) => {
      const path = wallet === null ? runsFile : pagesFile
      const file = files.get(path) ?? openSync(path, 'r')
      files.set(path, file)
      if (room.length < bytes) room = Buffer.allocUnsafeSlow(Math.max(bytes, USUAL_BYTES))
      const body = room.subarray(0, bytes)
      if (readSync(file, body, 0, bytes, offset) < bytes)
        throw diskError(`cannot read ${path}`, new Error('it ends too early'))
      return wallet === BLOCKS ? bodiesIn(body) : body
    },
    close: () => {
      for (const file of files.values()) closeSync(file)
      files.clear()
    },
  }
}
