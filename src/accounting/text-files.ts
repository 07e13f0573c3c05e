import { constants } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskError, makeFolderOf } from '../core/platform/disk.ts'
import { createTemporary, sweepTemporaries } from '../core/platform/temporary-file.ts'
import { placeToWrite } from '../core/platform/user-file.ts'

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

/** `begun`: where the path leads, and the temporary file that is written until then. */
type TextFile = { path: string; pieces: Piece[]; begun: Begun | undefined }
type Begun = { place: string; temporary: string }

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
      const file = known ?? { path, pieces: [], begun: undefined }
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
      for (const { path, begun } of files.values())
        if (begun !== undefined) await guarded(path, () => rename(begun.temporary, begun.place))
      return [...files.keys()]
    },
    giveUp: async () => {
      await writing.catch(() => {})
      for (const { begun } of files.values())
        if (begun !== undefined) await rm(begun.temporary, { force: true })
    },
  }
}

async function writePart(file: TextFile, bytes: Buffer, placeOf: PlaceOf): Promise<void> {
  file.begun ??= await begin(file.path, await placeOf(file.path))
  const { temporary } = file.begun
  await guarded(file.path, () => appendFile(temporary, bytes, { flag: APPEND }))
}

async function begin(path: string, place: string): Promise<Begun> {
  return guarded(path, async () => {
    await makeFolderOf(place)
    await sweepTemporaries(dirname(place))
    const { path: temporary, handle } = await createTemporary(place)
    await handle.close()
    return { place, temporary }
  })
}

/** Adds to the temporary file, which exists; a symbolic link in its place is not followed. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  return work().catch((cause: unknown) => {
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
