import { createReadStream } from 'node:fs'
import type { Chunk } from './chunk.ts'

export type FileLimits = {
  /** Maximum number of rows in a file. */
  maxRows: number
  /** A file ends after the line that reaches this size. @default no limit */
  maxBytes?: number | undefined
}

/** Divides chunks, in order, into files within limits. A chunk is only scanned for line ends if a file ends inside it. */
export async function assignChunks(chunks: readonly Chunk[], limits: FileLimits): Promise<Chunk[][]> {
  const { maxRows, maxBytes = Number.POSITIVE_INFINITY } = limits
  const files: Chunk[][] = [[]]
  let [rowsLeft, bytesLeft] = [maxRows, maxBytes]
  for (const { path, rows, bytes, maxLineBytes, start = 0 } of chunks) {
    const end = start + bytes
    let [row, from] = [0, start]
    while (row < rows) {
      if (rowsLeft <= 0 || bytesLeft <= 0) {
        files.push([])
        rowsLeft = maxRows
        bytesLeft = maxBytes
      }
      const rest = { lines: rows - row, to: end }
      const fits = rest.lines <= rowsLeft && end - from <= bytesLeft
      const lines = Math.min(rowsLeft, rest.lines)
      const measured = fits ? rest : await measureLines(path, { from, lines, bytes: bytesLeft })
      const chunk = { path, start: from, rows: measured.lines, bytes: measured.to - from, maxLineBytes }
      files.at(-1)?.push(chunk)
      row += chunk.rows
      rowsLeft -= chunk.rows
      bytesLeft -= chunk.bytes
      from = measured.to
    }
  }
  return files
}

const [LINE_FEED, QUOTE] = [10, 34]

type LineLimit = { from: number; lines: number; bytes: number }

/**
 * Finds the end of up to `lines` lines starting at offset `from` (the start of a line), or of the line that reaches
 * `bytes` if that comes first. Line feeds inside quotes belong to a cell.
 */
async function measureLines(
  path: string,
  { from, lines, bytes }: LineLimit,
): Promise<{ lines: number; to: number }> {
  let [lineCount, at] = [0, from]
  let isQuoted = false
  for await (const block of createReadStream(path, { start: from }) as AsyncIterable<Buffer>) {
    for (const byte of block) {
      at += 1
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_FEED && !isQuoted) {
        lineCount += 1
        if (lineCount === lines || at - from >= bytes) return { lines: lineCount, to: at }
      }
    }
  }
  return { lines, to: at }
}
