import { join } from 'node:path'
import { appendLines, type Chunk, openAppendFile } from '../../src/files/chunk.ts'
import { type Part, type TableFiles, writeTable } from '../../src/files/write-table.ts'
import { FORMATS } from '../../src/formats/index.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { inBytes, type Row, SAMPLE } from './tables.ts'

export type Written = Partial<Omit<TableFiles, 'chunks'>>

const USUAL = {
  table: SAMPLE,
  range: { from: 5, to: 1_234_567 },
  format: 'csv',
  compression: 'none',
  escapeFormulas: true,
  maxRowsPerFile: 1_000_000,
} as const

/** Writes part files from chunks of rows. The default format is uncompressed CSV. */
export async function writeRows(chunks: readonly (readonly Row[])[], options: Written = {}): Promise<Part[]> {
  const files = { ...USUAL, folder: options.folder ?? tempFolder(), ...options }
  const staged: Chunk[] = []
  for (const [at, rows] of chunks.entries()) staged.push(stageRows(`chunk-${at}`, rows, files))
  return writeTable({ ...files, chunks: staged })
}

/** Stages rows as a chunk in a separate file. */
function stageRows(
  name: string,
  rows: readonly Row[],
  files: Pick<TableFiles, 'table' | 'folder' | 'format' | 'escapeFormulas'>,
): Chunk {
  const file = openAppendFile(join(files.folder, name))
  const lines = FORMATS[files.format].createLineFormatter(files).createLineBuffer(files.table.columns)
  for (const row of rows) lines.add(inBytes(row))
  const chunk = appendLines(file, lines.drain())
  file.close()
  return chunk
}

/** Divides rows into chunks that end at the given indexes. */
export function cutAt<T>(rows: readonly T[], places: readonly number[]): T[][] {
  const cuts = [0, ...[...places].sort((a, b) => a - b), rows.length]
  return cuts.slice(1).map((to, at) => rows.slice(cuts[at], to))
}
