import { createReadStream } from 'node:fs'
import type { Chunk } from './chunk.ts'

export type FileBounds = {
  /** Rows in a file, at most. */
  maxRows: number
  /** A file ends with the line that brings it to so many bytes. @default no bound */
  maxBytes?: number | undefined
}

/**
 * Deals chunks out to files within bounds, in order. A chunk is read for its line ends only where a file ends inside it.
 */
export async function dealChunks(chunks: readonly Chunk[], bounds: FileBounds): Promise<Chunk[][]> {
  const { maxRows, maxBytes = Number.POSITIVE_INFINITY } = bounds
  const files: Chunk[][] = [[]]
  let [rowRoom, byteRoom] = [maxRows, maxBytes]
  for (const { path, rows, bytes, longest, start = 0 } of chunks) {
    const end = start + bytes
    let [row, from] = [0, start]
    while (row < rows) {
      if (rowRoom <= 0 || byteRoom <= 0) {
        files.push([])
        rowRoom = maxRows
        byteRoom = maxBytes
      }
      const rest = { lines: rows - row, to: end }
      const fits = rest.lines <= rowRoom && end - from <= byteRoom
      const lines = Math.min(rowRoom, rest.lines)
      const taken = fits ? rest : await takeLines(path, { from, lines, bytes: byteRoom })
      const piece = { path, start: from, rows: taken.lines, bytes: taken.to - from, longest }
      files.at(-1)?.push(piece)
      row += piece.rows
      rowRoom -= piece.rows
      byteRoom -= piece.bytes
      from = taken.to
    }
  }
  return files
}

const [LINE_FEED, QUOTE] = [10, 34]

type Bound = { from: number; lines: number; bytes: number }

/**
 * So many lines from `from`, which is a line's start, or as many as it takes to reach the bytes; where they end. A line
 * end between quotes belongs to its cell.
 */
async function takeLines(
  path: string,
  { from, lines, bytes }: Bound,
): Promise<{ lines: number; to: number }> {
  let [taken, at] = [0, from]
  let isQuoted = false
  for await (const block of createReadStream(path, { start: from }) as AsyncIterable<Buffer>) {
    for (const byte of block) {
      at += 1
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) {
        taken += 1
        if (taken === lines || at - from >= bytes) return { lines: taken, to: at }
      }
    }
  }
  return { lines, to: at }
}
