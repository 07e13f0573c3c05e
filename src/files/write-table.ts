import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BlockRange, Compression, FormatName } from '../core/model/model.ts'
import type { Table } from '../core/table/index.ts'
import type { FileDigest } from '../formats/format.ts'
import { FORMATS } from '../formats/index.ts'
import { assignChunks } from './assign-chunks.ts'
import { type Chunk, readLines, sumChunks } from './chunk.ts'
import { partPath } from './part-path.ts'

/** How a job's tables become files. */
export type FileFormat = {
  format: FormatName
  compression: Compression
  /** Put a `'` before text that a spreadsheet would run as a formula (only formats that need it). */
  escapeFormulas: boolean
  maxRowsPerFile: number
  /** A file ends once its lines have so many bytes; undefined: by rows alone. */
  targetFileBytes?: number | undefined
}

/** A finished part: `staged` is where it lies now, `path` what the manifest will call it. */
export type Part = {
  staged: string
  path: string
  rows: number
  bytes: number
  sha256: string
  fromBlock: number
  toBlock: number
}

export type TableFiles = FileFormat & {
  table: Table
  /** Lines of the table in its final order. */
  chunks: readonly Chunk[]
  /** Where parts are staged; on the file system of the output. */
  folder: string
  /** Half-open range of blocks that the names carry. */
  range: BlockRange
  /** Number of the first file. @default 0 */
  firstNumber?: number
  /** Breaks the making off. */
  signal?: AbortSignal | undefined
}

/**
 * Makes the part files of one table from its chunks, rolling to a next file at `maxRowsPerFile`, at `targetFileBytes` and
 * where the partition changes. However the rows were cut into chunks, the files are the same. Throws OUTPUT_FAILED.
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

/** Lines that are in their files are not needed any more. */
async function removeChunks(chunks: readonly Chunk[]): Promise<void> {
  await Promise.all([...new Set(chunks.map(({ path }) => path))].map((path) => rm(path, { force: true })))
}

/** What follows each other in one partition; without any chunk one group of none, for the table's header. */
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
  { table, format, compression, signal }: TableFiles,
): Promise<FileDigest> {
  const part = { ...sumChunks(chunks), path, table, compression, signal }
  return FORMATS[format].writePart(part, readLines(chunks))
}
