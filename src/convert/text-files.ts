import { appendFile, rename, rm, writeFile } from 'node:fs/promises'
import { diskError, makeFolderOf } from '../core/disk.ts'
import { placeToWrite } from '../core/named-file.ts'

/** Files that are written piece by piece and appear all at once, in the end. */
export type TextFiles = {
  /** Adds to a file, which begins with `head`. */
  add(path: string, text: string, head?: string): void
  /** Writes what was added, once it is enough. Throws OUTPUT_FAILED, and USAGE where a path is no file's. */
  flush(): Promise<void>
  /** Gives the files their names; resolves with them. Throws as `flush` does. */
  finish(): Promise<string[]>
  /** Removes what was written. */
  giveUp(): Promise<void>
}

/** `place` is where the path leads, known once the file is begun. */
type TextFile = { path: string; pieces: Piece[]; place: string | undefined }

type PlaceOf = (path: string) => Promise<string>

export function openTextFiles(placeOf: PlaceOf = placeToWrite): TextFiles {
  const files = new Map<string, TextFile>()
  const buffer = openPieceBuffer()
  let writing = Promise.resolve()
  const writeAll = async () => {
    const waiting = [...files.values()].flatMap((file) =>
      file.pieces.length === 0 ? [] : [{ file, bytes: joined(file.pieces.splice(0)) }],
    )
    buffer.reset()
    for (const { file, bytes } of waiting) await writePart(file, bytes, placeOf)
  }
  return {
    add: (path, text, head = '') => {
      const known = files.get(path)
      const file = known ?? { path, pieces: [], place: undefined }
      if (known === undefined) {
        files.set(path, file)
        buffer.put(head, file.pieces)
      }
      buffer.put(text, file.pieces)
    },
    flush: async () => {
      if (buffer.waiting() < ENOUGH) return
      await writing
      // The next text is made meanwhile: that takes a tenth off the time of a conversion.
      writing = writeAll()
      writing.catch(() => {})
    },
    finish: async () => {
      await writing
      await writeAll()
      for (const { path, place = path } of files.values())
        await guarded(path, () => rename(partOf(place), place))
      return [...files.keys()]
    },
    giveUp: async () => {
      await writing.catch(() => {})
      for (const { place } of files.values())
        if (place !== undefined) await rm(partOf(place), { force: true })
    },
  }
}

const partOf = (path: string) => `${path}.part`

async function writePart(file: TextFile, bytes: Buffer, placeOf: PlaceOf): Promise<void> {
  const write = file.place === undefined ? writeFile : appendFile
  const place = file.place ?? (await placeOf(file.path))
  if (file.place === undefined) await guarded(file.path, () => makeFolderOf(place))
  file.place = place
  await guarded(file.path, () => write(partOf(place), bytes))
}

async function guarded(path: string, work: () => Promise<void>): Promise<void> {
  await work().catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
}

/** Bytes that are written at once, of all files together: fewer make more calls, more take more memory. */
const ENOUGH = 512 * 1024
const BUFFER_BYTES = 2 * ENOUGH

/** Bytes of a file, which follow each other in a buffer. */
type Piece = { buffer: Buffer; start: number; end: number }

const joined = (pieces: readonly Piece[]): Buffer =>
  Buffer.concat(pieces.map(({ buffer, start, end }) => buffer.subarray(start, end)))

/** Where the text of all files waits as bytes: kept as text it would cost far more to collect. */
function openPieceBuffer() {
  let buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  let [used, waiting] = [0, 0]
  return {
    waiting: () => waiting,
    /** Adds text to the pieces of a file; text that goes on where the last piece ends makes that one longer. */
    put: (text: string, pieces: Piece[]) => {
      const most = text.length * 3
      if (used + most > buffer.length) {
        buffer = Buffer.allocUnsafe(Math.max(BUFFER_BYTES, most))
        used = 0
      }
      const end = used + buffer.write(text, used)
      const last = pieces.at(-1)
      if (last?.buffer === buffer && last.end === used) last.end = end
      else pieces.push({ buffer, start: used, end })
      waiting += end - used
      used = end
    },
    /** What was put is copied elsewhere: the buffer begins again. */
    reset: () => {
      used = 0
      waiting = 0
    },
  }
}
