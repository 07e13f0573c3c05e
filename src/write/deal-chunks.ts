import { createReadStream } from 'node:fs'
import type { Chunk } from './chunk.ts'

/** Lines to deal: a chunk, or the part of one that begins at a byte. */
export type Dealt = Pick<Chunk, 'path' | 'rows' | 'bytes' | 'longest'> & {
  /** @default 0 */
  start?: number
}

/** A stretch of a chunk: bytes [from, to), which are whole lines. */
export type Piece = { path: string; from: number; to: number; rows: number; longest: number }

export type FileBounds = {
  /** Rows in a file, at most. */
  maxRows: number
  /** A file ends with the line that brings it to so many bytes. @default no bound */
  maxBytes?: number | undefined
}

/**
 * Deals chunks out to files within bounds, in order. A chunk is read for its line ends only where a file ends inside it.
 */
export async function dealChunks(chunks: readonly Dealt[], bounds: FileBounds): Promise<Piece[][]> {
  const { maxRows, maxBytes = Number.POSITIVE_INFINITY } = bounds
  const files: Piece[][] = [[]]
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
      files.at(-1)?.push({ path, from, to: taken.to, rows: taken.lines, longest })
      row += taken.lines
      rowRoom -= taken.lines
      byteRoom -= taken.to - from
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
