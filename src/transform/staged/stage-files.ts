import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { type TableName, tableByName } from '../../core/table/index.ts'
import { type AppendFile, openAppendFile } from '../../files/chunk.ts'
import type { CsvFormatter, LineBuffer } from '../../files/csv.ts'
import { createLineFormatter, type FileFormat } from '../../files/write-table.ts'

/** Files of lines, a file a table and thread, and beside them one of what pages hold and one of fingerprints. */
export type StageFiles = {
  csv: CsvFormatter
  tables: readonly TableStage[]
  indexes: AppendFile
  hashes: AppendFile
  /** So many lines wait that it is time to write them. */
  isFull(): boolean
  /** Writes all lines that wait. */
  flush(): void
  /** Writes what waits and closes the files; what is staged later goes on behind it. */
  close(): void
}

/** One table on its way to disk: lines wait for a while, so that not every page is a call of the system. */
export type TableStage = {
  name: TableName
  lines: LineBuffer
  file: AppendFile
  /** The byte of the file where the next line will begin. */
  position(): number
}

export type StageFormat = Pick<FileFormat, 'format' | 'escapeFormulas'> & {
  tables: readonly TableName[]
  /** Where lines are staged. */
  folder: string
}

/** Bytes of lines that are written at once, about. */
const FULL_BYTES = 1 << 19

/** Where a thread's lines of a table lie. */
export const linesPath = (folder: string, name: string, thread: number) =>
  join(folder, `${name}-${thread}.lines`)

/** Opens this thread's files; none comes to be before it has bytes. */
export function openStageFiles(format: StageFormat): StageFiles {
  const { folder } = format
  const csv = createLineFormatter(format)
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
    ...{ csv, tables, indexes, hashes, isFull, flush },
    close: () => {
      flush()
      for (const file of [...tables.map((table) => table.file), indexes, hashes]) file.close()
    },
  }
}
