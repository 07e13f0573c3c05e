import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { diskError } from '../core/platform/disk.ts'
import type { BufferedLines } from '../formats/csv-lines.ts'

/** Whole lines of one table on disk that follow each other; a part file is made of one chunk after the other. */
export type Chunk = {
  path: string
  /** The byte of the file that it begins with. @default 0 */
  start?: number
  rows: number
  bytes: number
  /** Bytes of the longest line, at least. */
  maxLineBytes: number
  /** The folder of the table into which it belongs, such as `day=2023-11-14`. @default none */
  partition?: string | undefined
}

/** Rows and bytes of all of them, and the longest line of any. */
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

/** Lines are read in blocks of so many bytes. */
const COPY_BYTES = 1 << 20

/** The bytes of all of them, block by block, each in the same room: it is good until the next. */
export function* readLines(
  chunks: readonly Pick<Chunk, 'path' | 'start' | 'bytes'>[],
  buffer = Buffer.allocUnsafeSlow(COPY_BYTES),
): Generator<Buffer, void, void> {
  const files = new Map<string, number>()
  let filled = 0
  try {
    for (const { path, start = 0, bytes } of chunks) {
      // They lie in few files, and were written a moment ago.
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

/** A file to which bytes are appended, by blocking calls: the thread that makes them has nothing else to do. */
export type AppendFile = {
  readonly path: string
  /** Its bytes. */
  readonly end: number
  /** Throws OUTPUT_FAILED. */
  append(bytes: Uint8Array): void
  /** What is appended later goes on behind what is there. */
  close(): void
}

/** A file at `path`, which comes to be with its first bytes. */
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
        // A full disk takes a part of the bytes before it refuses the rest.
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

/** Appends lines; gives where they lie. */
export function appendLines(file: AppendFile, { bytes, rows, maxLineBytes }: BufferedLines): Chunk {
  const start = file.end
  file.append(bytes)
  return { path: file.path, start, rows, bytes: bytes.length, maxLineBytes }
}
