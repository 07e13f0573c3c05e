import { createReadStream } from 'node:fs'
import type { Chunk } from './chunk.ts'

/** A stretch of a chunk: bytes [from, to), which are whole lines. */
export type Piece = { path: string; from: number; to: number; rows: number; longest: number }

/**
 * Deals chunks out to files of at most `maxRows` rows, in order. A chunk is read for its line ends only where a file
 * ends inside it; with `quoting` (CSV) a line end between quotes belongs to its cell.
 */
export async function dealChunks(
  chunks: readonly Chunk[],
  { maxRows, quoting }: { maxRows: number; quoting: boolean },
): Promise<Piece[][]> {
  const files: Piece[][] = [[]]
  let room = maxRows
  for (const { path, rows, bytes, longest } of chunks) {
    let [row, from] = [0, 0]
    while (row < rows) {
      if (room === 0) {
        files.push([])
        room = maxRows
      }
      const taken = Math.min(room, rows - row)
      const to = row + taken === rows ? bytes : await offsetAfter(path, { from, lines: taken, quoting })
      files.at(-1)?.push({ path, from, to, rows: taken, longest })
      row += taken
      from = to
      room -= taken
    }
  }
  return files
}

const [LINE_FEED, QUOTE] = [10, 34]

/** The offset after so many lines from `from`, which is a line's start. */
async function offsetAfter(
  path: string,
  { from, lines, quoting }: { from: number; lines: number; quoting: boolean },
): Promise<number> {
  let left = lines
  let at = from
  let isQuoted = false
  for await (const block of createReadStream(path, { start: from }) as AsyncIterable<Buffer>) {
    for (const byte of block) {
      at += 1
      if (quoting && byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) left -= 1
      if (left === 0) return at
    }
  }
  return at
}
