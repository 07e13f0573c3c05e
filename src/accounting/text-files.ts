import { constants } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskError, makeParentFolder } from '../core/platform/disk.ts'
import { createTemporary, removeStaleTemporaries } from '../core/platform/temporary-file.ts'
import { resolveWritePath } from '../core/platform/user-file.ts'

/** Files that are written piece by piece and appear all at once, in the end. */
export type TextFiles = {
  /** Adds to a file, which begins with `head`. */
  add(path: string, text: string, head?: string): void
  /** Writes what was added, once it is enough. Throws OUTPUT_FAILED, and USAGE where a path is no file's. */
  flush(): Promise<void>
  /** Gives the files their names; resolves with them. Throws as `flush` does. */
  finish(): Promise<string[]>
  /** Removes what was written. */
  abort(): Promise<void>
}

/** `begun`: where the path leads, and the temporary file that is written until then. */
type TextFile = { path: string; ranges: BufferRange[]; started: StartedFile | undefined }
type StartedFile = { destination: string; temporary: string }

type ResolvePath = (path: string) => Promise<string>

export function openTextFiles(resolvePath: ResolvePath = resolveWritePath): TextFiles {
  const files = new Map<string, TextFile>()
  const buffer = openTextBuffer()
  let writing = Promise.resolve()
  const writeAll = async () => {
    const pending = [...files.values()].flatMap((file) =>
      file.ranges.length === 0 ? [] : [{ file, bytes: concatRanges(file.ranges.splice(0)) }],
    )
    buffer.reset()
    for (const { file, bytes } of pending) await writePart(file, bytes, resolvePath)
  }
  return {
    add: (path, text, head = '') => {
      const existing = files.get(path)
      const file = existing ?? { path, ranges: [], started: undefined }
      if (existing === undefined) {
        files.set(path, file)
        buffer.append(head, file.ranges)
      }
      buffer.append(text, file.ranges)
    },
    flush: async () => {
      if (buffer.pendingBytes() < FLUSH_BYTES) return
      await writing
      // The next text is made meanwhile: that takes a tenth off the time of a conversion.
      writing = writeAll()
      writing.catch(() => {})
    },
    finish: async () => {
      await writing
      await writeAll()
      for (const { path, started } of files.values())
        if (started !== undefined)
          await withWriteError(path, () => rename(started.temporary, started.destination))
      return [...files.keys()]
    },
    abort: async () => {
      await writing.catch(() => {})
      for (const { started } of files.values())
        if (started !== undefined) await rm(started.temporary, { force: true })
    },
  }
}

async function writePart(file: TextFile, bytes: Buffer, resolvePath: ResolvePath): Promise<void> {
  file.started ??= await startFile(file.path, await resolvePath(file.path))
  const { temporary } = file.started
  await withWriteError(file.path, () => appendFile(temporary, bytes, { flag: APPEND }))
}

async function startFile(path: string, destination: string): Promise<StartedFile> {
  return withWriteError(path, async () => {
    await makeParentFolder(destination)
    await removeStaleTemporaries(dirname(destination))
    const { path: temporary, handle } = await createTemporary(destination)
    await handle.close()
    return { destination, temporary }
  })
}

/** Adds to the temporary file, which exists; a symbolic link in its place is not followed. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW

async function withWriteError<T>(path: string, work: () => Promise<T>): Promise<T> {
  return work().catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
}

/** Bytes that are written at once, of all files together: fewer make more calls, more take more memory. */
const FLUSH_BYTES = 512 * 1024
const BUFFER_BYTES = 2 * FLUSH_BYTES

/** Bytes of a file, which follow each other in a buffer. */
type BufferRange = { buffer: Buffer; start: number; end: number }

const concatRanges = (ranges: readonly BufferRange[]): Buffer =>
  Buffer.concat(ranges.map(({ buffer, start, end }) => buffer.subarray(start, end)))

/** Where the text of all files waits as bytes: kept as text it would cost far more to collect. */
function openTextBuffer() {
  let buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  let [used, pendingBytes] = [0, 0]
  return {
    pendingBytes: () => pendingBytes,
    /** Adds text to the pieces of a file; text that goes on where the last piece ends makes that one longer. */
    append: (text: string, ranges: BufferRange[]) => {
      const maxBytes = text.length * 3
      if (used + maxBytes > buffer.length) {
        buffer = Buffer.allocUnsafe(Math.max(BUFFER_BYTES, maxBytes))
        used = 0
      }
      const end = used + buffer.write(text, used)
      const last = ranges.at(-1)
      if (last?.buffer === buffer && last.end === used) last.end = end
      else ranges.push({ buffer, start: used, end })
      pendingBytes += end - used
      used = end
    },
    /** What was put is copied elsewhere: the buffer begins again. */
    reset: () => {
      used = 0
      pendingBytes = 0
    },
  }
}
