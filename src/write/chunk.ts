import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { diskError } from '../core/disk.ts'
import type { Lines } from './csv.ts'

/** Lines of one table on disk, in their final order; a part file is made of one chunk after the other. */
export type Chunk = {
  path: string
  /** The byte of the file that it begins with. @default 0 */
  start?: number
  rows: number
  bytes: number
  /** Bytes of the longest line. */
  longest: number
  /** Its lines by partition, in order; undefined: none of them has one. */
  stretches?: readonly Stretch[] | undefined
}

/** Lines that follow each other and belong into one folder of the table, such as `day=2023-11-14`. */
type Stretch = { partition: string; rows: number; bytes: number }

/** Whole lines on disk that follow each other: a chunk, or a part of one. */
export type StoredLines = Pick<Chunk, 'path' | 'start' | 'rows' | 'bytes' | 'longest'>

/** Rows and bytes of all of them, and the longest line of any. */
export function sumOf(
  all: readonly Pick<Chunk, 'rows' | 'bytes' | 'longest'>[],
): Pick<Chunk, 'rows' | 'bytes' | 'longest'> {
  const sum = { rows: 0, bytes: 0, longest: 0 }
  for (const { rows, bytes, longest } of all) {
    sum.rows += rows
    sum.bytes += bytes
    sum.longest = Math.max(sum.longest, longest)
  }
  return sum
}

/** Lines are read in blocks of so many bytes. */
const COPY_BYTES = 1 << 20

/** The bytes of all of them, block by block, each in the same room: it is good until the next. */
export function* readLines(
  all: readonly StoredLines[],
  room = Buffer.allocUnsafeSlow(COPY_BYTES),
): Generator<Buffer, void, void> {
  const files = new Map<string, number>()
  try {
    for (const { path, start = 0, bytes } of all) {
      // They lie in one file a thread, and were written a moment ago.
      const file = files.get(path) ?? openSync(path, 'r')
      files.set(path, file)
      const end = start + bytes
      for (let at = start; at < end; ) {
        const bytesRead = readSync(file, room, 0, Math.min(room.length, end - at), at)
        if (bytesRead === 0) throw new Error(`${path} ends too early`)
        yield room.subarray(0, bytesRead)
        at += bytesRead
      }
    }
  } finally {
    for (const file of files.values()) closeSync(file)
  }
}

/** A file for one chunk after the other. */
export type ChunkFile = {
  /** Begins a chunk; the one before is finished or given up. */
  open(): ChunkWriter
  /** A chunk that is begun later goes on behind those that are there. */
  close(): void
}

export type ChunkWriter = {
  /** What is written from here on belongs into this partition. */
  begin(partition: string): void
  write(lines: Lines): void
  finish(): Chunk
}

/**
 * A file at `path`, which comes to be with the first rows. It is written by blocking calls, for the thread that makes rows
 * has nothing else to do. Throws OUTPUT_FAILED.
 */
export function chunkFile(path: string): ChunkFile {
  let file: number | undefined
  let end = 0
  const append = (bytes: Uint8Array) => {
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
  }
  return {
    open: () => writeChunk({ path, start: end }, append),
    close: () => {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

function writeChunk(at: { path: string; start: number }, append: (bytes: Uint8Array) => void): ChunkWriter {
  const chunk = { ...at, rows: 0, bytes: 0, longest: 0 }
  const begun: { partition: string; rows: number; bytes: number }[] = []
  return {
    begin: (partition) => {
      begun.push({ partition, rows: chunk.rows, bytes: chunk.bytes })
    },
    write: ({ bytes, rows, longest }) => {
      append(bytes)
      chunk.rows += rows
      chunk.bytes += bytes.length
      chunk.longest = Math.max(chunk.longest, longest)
    },
    finish: () => (begun.length === 0 ? chunk : { ...chunk, stretches: stretchesOf(begun, chunk) }),
  }
}

/** From where each stretch began, how long it is; one without rows is none. */
function stretchesOf(begun: readonly Stretch[], { rows, bytes }: Chunk): Stretch[] {
  const lengths = begun.map(({ partition, ...start }, at) => {
    const end = begun[at + 1] ?? { rows, bytes }
    return { partition, rows: end.rows - start.rows, bytes: end.bytes - start.bytes }
  })
  return lengths.filter((stretch) => stretch.rows > 0)
}
