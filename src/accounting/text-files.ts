import { constants } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskError, makeParentFolder } from '../core/platform/disk.ts'
import { createTemporary, removeStaleTemporaries } from '../core/platform/temporary-file.ts'
import { resolveWritePath } from '../core/platform/user-file.ts'

/** Files that are written incrementally under temporary names and renamed into place at the end. */
export type TextFiles = {
  /** Appends text to a file. A new file starts with `header`. */
  add(path: string, text: string, header?: string): void
  /** Appends bytes to a file. The caller must not change them. */
  addBytes(path: string, bytes: Buffer): void
  /**
   * Starts writing the buffered text if enough has accumulated; the errors of a write surface in the next call. Throws
   * OUTPUT_FAILED if a file cannot be written, and USAGE if a path is not that of a file.
   */
  flush(): Promise<void>
  /** Writes the rest, renames the files into place and returns their paths. Throws as `flush` does. */
  finish(): Promise<string[]>
  /** Removes the temporary files. */
  abort(): Promise<void>
}

/** `started` is set with the first write: the resolved path, and the temporary file that is renamed to it in the end. */
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
  const fileAt = (path: string, header: string): TextFile => {
    const existing = files.get(path)
    if (existing !== undefined) return existing
    const file = { path, ranges: [], started: undefined }
    files.set(path, file)
    buffer.append(header, file.ranges)
    return file
  }
  return {
    add: (path, text, header = '') => buffer.append(text, fileAt(path, header).ranges),
    addBytes: (path, bytes) => {
      fileAt(path, '').ranges.push({ buffer: bytes, start: 0, end: bytes.length })
    },
    flush: async () => {
      if (buffer.pendingBytes() < FLUSH_BYTES) return
      await writing
      // Not awaited: the conversion continues during the write, which saves a tenth of its time.
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

/** Appends to the existing temporary file, and does not follow a symbolic link in its place. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW

async function withWriteError<T>(path: string, work: () => Promise<T>): Promise<T> {
  return work().catch((cause: unknown) => {
    throw diskError(`cannot write ${path}`, cause)
  })
}

/** Bytes to buffer before a write, for all files together. Less means more writes, more means more memory. */
const FLUSH_BYTES = 512 * 1024
const BUFFER_BYTES = 2 * FLUSH_BYTES

/** A range of a buffer that holds consecutive bytes of one file. */
type BufferRange = { buffer: Buffer; start: number; end: number }

const concatRanges = (ranges: readonly BufferRange[]): Buffer =>
  Buffer.concat(ranges.map(({ buffer, start, end }) => buffer.subarray(start, end)))

/** Buffers the text of all files as bytes, which costs the garbage collector far less than strings. */
function openTextBuffer() {
  let buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  let [used, pendingBytes] = [0, 0]
  return {
    pendingBytes: () => pendingBytes,
    /** Appends text to the ranges of a file. Text that directly follows the last range extends it. */
    append: (text: string, ranges: BufferRange[]) => {
      // A UTF-16 code unit takes at most 3 bytes in UTF-8.
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
    /** Starts the buffer anew. The caller must have copied its bytes. */
    reset: () => {
      used = 0
      pendingBytes = 0
    },
  }
}
