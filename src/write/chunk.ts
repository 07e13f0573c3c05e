import { open } from 'node:fs/promises'
import { diskError } from '../disk.ts'
import type { Lines } from './lines.ts'

/** Lines of one table on disk, in their final order; a part file is made of one chunk after the other. */
export type Chunk = {
  path: string
  rows: number
  bytes: number
  /** Characters in the longest line. */
  longest: number
}

export type ChunkWriter = {
  write(lines: Lines): Promise<void>
  finish(): Promise<Chunk>
}

const FLUSH_CHARS = 1 << 18

/** Opens a chunk at `path`; the file comes to be with the first rows. Throws OUTPUT_FAILED. */
export function openChunk(path: string): ChunkWriter {
  const chunk: Chunk = { path, rows: 0, bytes: 0, longest: 0 }
  let waiting = ''
  const flush = async () => {
    if (waiting === '') return
    const bytes = Buffer.from(waiting)
    waiting = ''
    const file = await open(path, 'a')
    try {
      await file.appendFile(bytes)
    } finally {
      await file.close()
    }
    chunk.bytes += bytes.length
  }
  const guarded = () =>
    flush().catch((cause: unknown) => {
      throw diskError(`cannot stage rows in ${path}`, cause)
    })
  return {
    write: async ({ text, rows, longest }) => {
      waiting += text
      chunk.rows += rows
      chunk.longest = Math.max(chunk.longest, longest)
      if (waiting.length >= FLUSH_CHARS) await guarded()
    },
    finish: async () => {
      await guarded()
      return chunk
    },
  }
}
