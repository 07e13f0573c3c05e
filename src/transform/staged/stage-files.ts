import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type TableName, tableByName } from '../../core/table/index.ts'
import { type AppendFile, openAppendFile } from '../../files/chunk.ts'
import type { FileFormat } from '../../files/write-table.ts'
import type { CsvFormatter, LineBuffer } from '../../formats/csv-lines.ts'
import { FORMATS } from '../../formats/index.ts'

/** A thread's staging files: one file of lines per table, one of page indexes and one of fingerprints. */
export type StageFiles = {
  csv: CsvFormatter
  tables: readonly TableStage[]
  indexes: AppendFile
  hashes: AppendFile
  /** Whether enough lines are buffered to write them. */
  isFull(): boolean
  /** Writes all buffered lines. */
  flush(): void
  /** Writes all buffered lines and closes the files. Lines that are staged later are appended. */
  close(): void
}

/** One table's staging file and its line buffer, which avoids a write call per page. */
export type TableStage = {
  name: TableName
  lines: LineBuffer
  file: AppendFile
  /** Byte offset in the file at which the next line will begin. */
  position(): number
}

export type StageFormat = Pick<FileFormat, 'format' | 'escapeFormulas'> & {
  tables: readonly TableName[]
  /** Folder of the staging files. */
  folder: string
}

/** Approximate size of a write in bytes. */
const FULL_BYTES = 1 << 19

/** Path of a thread's staging file for a table, or for `indexes` or `hashes`. */
export const linesPath = (folder: string, name: string, thread: number) =>
  join(folder, `${name}-${thread}.lines`)

/** Opens this thread's staging files. A file is created on its first write. */
export function openStageFiles(format: StageFormat): StageFiles {
  const { folder } = format
  const csv = FORMATS[format.format].createLineFormatter(format)
  const fileOf = (name: string) => openAppendFile(linesPath(folder, name, threadId))
  const tables = format.tables.map((name): TableStage => {
    const file = fileOf(name)
    const lines = csv.createLineBuffer(tableByName(name).columns)
    return { name, lines, file, position: () => file.end + lines.size() }
  })
  const [indexes, hashes] = [fileOf('indexes'), fileOf('hashes')]
  const isFull = () => tables.reduce((sum, { lines }) => sum + lines.size(), 0) >= FULL_BYTES
  const flush = () => {
    for (const { lines, file } of tables) file.append(lines.drain().bytes)
  }
  return {
    csv,
    tables,
    indexes,
    hashes,
    isFull,
    flush,
    close: () => {
      flush()
      for (const file of [...tables.map((table) => table.file), indexes, hashes]) file.close()
    },
  }
}
