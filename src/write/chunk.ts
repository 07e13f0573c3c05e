import { closeSync, openSync, writeSync } from 'node:fs'
import { diskError } from '../disk.ts'
import type { Lines } from './csv.ts'

/** Lines of one table on disk, in their final order; a part file is made of one chunk after the other. */
export type Chunk = {
  path: string
  rows: number
  bytes: number
  /** Bytes of the longest line. */
  longest: number
  /** Its lines by partition, in order; undefined: none of them has one. */
  stretches?: readonly Stretch[] | undefined
}

/** Lines that follow each other and belong into one folder of the table, such as `day=2023-11-14`. */
type Stretch = { partition: string; rows: number; bytes: number }

export type ChunkWriter = {
  /** What is written from here on belongs into this partition. */
  begin(partition: string): void
  write(lines: Lines): void
  finish(): Chunk
  /** Closes the file where writing was given up. */
  close(): void
}

/**
 * Opens a chunk at `path`; the file comes to be with the first rows. It is written by blocking calls, for the thread
 * that makes rows has nothing else to do. Throws OUTPUT_FAILED.
 */
export function openChunk(path: string): ChunkWriter {
  const chunk: Chunk = { path, rows: 0, bytes: 0, longest: 0 }
  const begun: { partition: string; rows: number; bytes: number }[] = []
  let file: number | undefined
  const close = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  return {
    begin: (partition) => {
      begun.push({ partition, rows: chunk.rows, bytes: chunk.bytes })
    },
    write: ({ bytes, rows, longest }) => {
      if (rows === 0) return
      try {
        file ??= openSync(path, 'w')
        writeWhole(file, bytes)
      } catch (cause) {
        throw diskError(`cannot stage rows in ${path}`, cause)
      }
      chunk.rows += rows
      chunk.bytes += bytes.length
      chunk.longest = Math.max(chunk.longest, longest)
    },
    finish: () => {
      close()
      return begun.length === 0 ? chunk : { ...chunk, stretches: stretchesOf(begun, chunk) }
    },
    close,
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

/** A full disk takes a part of the bytes before it refuses the rest. */
function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
