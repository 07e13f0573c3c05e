import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { diskError } from '../core/platform/disk.ts'
import type { BufferedLines } from '../formats/csv-lines.ts'

/** Consecutive complete lines of one table on disk. A part file is the concatenation of chunks. */
export type Chunk = {
  path: string
  /** Offset of the first byte in the file. @default 0 */
  start?: number
  rows: number
  bytes: number
  /** Upper bound of the length of a line, in bytes. */
  maxLineBytes: number
  /** Partition folder below the folder of the table, such as `day=2023-11-14`. @default none */
  partition?: string | undefined
}

/** Adds up rows and bytes of the chunks, and takes the maximum of their line lengths. */
export function sumChunks(
  chunks: readonly Pick<Chunk, 'rows' | 'bytes' | 'maxLineBytes'>[],
): Pick<Chunk, 'rows' | 'bytes' | 'maxLineBytes'> {
  const sum = { rows: 0, bytes: 0, maxLineBytes: 0 }
  for (const { rows, bytes, maxLineBytes } of chunks) {
    sum.rows += rows
    sum.bytes += bytes
    sum.maxLineBytes = Math.max(sum.maxLineBytes, maxLineBytes)
  }
  return sum
}

/** Block size for reading lines. */
const COPY_BYTES = 1 << 20

/** Yields the bytes of all chunks in blocks. Each block reuses the same buffer, so it is only valid until the next one. */
export function* readLines(
  chunks: readonly Pick<Chunk, 'path' | 'start' | 'bytes'>[],
  buffer = Buffer.allocUnsafeSlow(COPY_BYTES),
): Generator<Buffer, void, void> {
  const files = new Map<string, number>()
  let filled = 0
  try {
    for (const { path, start = 0, bytes } of chunks) {
      // The chunks lie in few files, so all of them can stay open.
      const file = files.get(path) ?? openSync(path, 'r')
      files.set(path, file)
      const end = start + bytes
      for (let at = start; at < end; ) {
        const bytesRead = readSync(file, buffer, filled, Math.min(buffer.length - filled, end - at), at)
        if (bytesRead === 0) throw new Error(`${path} ends too early`)
        at += bytesRead
        filled += bytesRead
        if (filled < buffer.length) continue
        yield buffer
        filled = 0
      }
    }
    if (filled > 0) yield buffer.subarray(0, filled)
  } finally {
    for (const file of files.values()) closeSync(file)
  }
}

/** A file that is appended to by synchronous calls. The worker threads that use it have nothing else to do meanwhile. */
export type AppendFile = {
  readonly path: string
  /** Number of bytes appended so far, which is the offset of the next append. */
  readonly end: number
  /** Throws OUTPUT_FAILED. */
  append(bytes: Uint8Array): void
  /** Closes the file descriptor. A later append reopens the file and continues at its end. */
  close(): void
}

/** Opens an append-only file at `path`. The file is created by the first append. */
export function openAppendFile(path: string): AppendFile {
  let file: number | undefined
  let end = 0
  return {
    path,
    get end() {
      return end
    },
    append: (bytes) => {
      if (bytes.length === 0) return
      try {
        file ??= openSync(path, 'a')
        // On a disk that runs full, a write can succeed in part before the next one fails.
        for (let at = 0; at < bytes.length; ) {
          const written = writeSync(file, bytes, at)
          at += written
          end += written
        }
      } catch (cause) {
        throw diskError(`cannot stage rows in ${path}`, cause)
      }
    },
    close: () => {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** Appends lines and returns the chunk that locates them. */
export function appendLines(file: AppendFile, { bytes, rows, maxLineBytes }: BufferedLines): Chunk {
  const start = file.end
  file.append(bytes)
  return { path: file.path, start, rows, bytes: bytes.length, maxLineBytes }
}
