import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BlockRange, Compression, FormatName, NumberFormat } from '../core/model/model.ts'
import type { Table } from '../core/table/index.ts'
import type { FileDigest } from '../formats/format.ts'
import { FORMATS } from '../formats/index.ts'
import { type Chunk, readLines, sumChunks } from './chunk.ts'
import { partPath } from './part-path.ts'

/** Settings of a job that determine its part files. */
export type FileFormat = {
  format: FormatName
  compression: Compression
  /** Whether files that store types also have columns of decimals. @default text */
  numbers?: NumberFormat | undefined
  /** Put a `'` before text that a spreadsheet would run as a formula. Only formats that need it use this. */
  escapeFormulas: boolean
  maxRowsPerFile: number
  /** A file ends after the line that reaches this size, before compression. If undefined, only rows are limited. */
  targetFileBytes?: number | undefined
}

/** A finished part file: `staged` is its current path, `path` its path in the manifest. */
export type Part = {
  staged: string
  path: string
  rows: number
  bytes: number
  sha256: string
  notDecimal?: number
  fromBlock: number
  toBlock: number
}

export type TableFiles = FileFormat & {
  table: Table
  /** Lines of the table in its final order. */
  chunks: readonly Chunk[]
  /** Folder where parts are staged; on the file system of the output. */
  folder: string
  /** Half-open range of blocks in the file names. */
  range: BlockRange
  /** Number of the first file. @default 0 */
  firstNumber?: number
  /** Aborts writing. */
  signal?: AbortSignal | undefined
}

/**
 * Writes the part files of one table from its chunks. Starts a new file at `maxRowsPerFile`, at `targetFileBytes` and
 * when the partition changes. The files do not depend on how the rows are divided into chunks. Throws OUTPUT_FAILED.
 */
export async function writeTable(files: TableFiles): Promise<Part[]> {
  const { chunks, table, folder, range, firstNumber = 0 } = files
  const limits = { maxRows: files.maxRowsPerFile, maxBytes: files.targetFileBytes }
  const parts: Part[] = []
  for (const partitionChunks of byPartition(chunks)) {
    const partition = partitionChunks[0]?.partition
    for (const fileChunks of await assignChunks(partitionChunks, limits)) {
      const number = firstNumber + parts.length
      const path = partPath({ ...files, table: table.name, partition, number })
      const staged = join(folder, basename(path))
      const hashes = await writePart(staged, fileChunks, files)
      parts.push({
        staged,
        path,
        rows: sumChunks(fileChunks).rows,
        ...hashes,
        fromBlock: range.from,
        toBlock: range.to,
      })
    }
  }
  await removeChunks(chunks)
  return parts
}

/** Removes the chunk files, whose lines are now in part files. */
async function removeChunks(chunks: readonly Chunk[]): Promise<void> {
  await Promise.all([...new Set(chunks.map(({ path }) => path))].map((path) => rm(path, { force: true })))
}

/**
 * Groups consecutive chunks of one partition. Without chunks, returns one empty group, so that a file with the columns
 * of the table is written.
 */
function byPartition(chunks: readonly Chunk[]): Chunk[][] {
  const groups: Chunk[][] = []
  for (const chunk of chunks) {
    const last = groups.at(-1)
    if (last?.[0] !== undefined && last[0].partition === chunk.partition) last.push(chunk)
    else groups.push([chunk])
  }
  return groups.length > 0 ? groups : [[]]
}

function writePart(
  path: string,
  chunks: readonly Chunk[],
  { table, format, compression, numbers, signal }: TableFiles,
): Promise<FileDigest> {
  const part = { ...sumChunks(chunks), path, table, compression, numbers, signal }
  return FORMATS[format].writePart(part, readLines(chunks))
}

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
