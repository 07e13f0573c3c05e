import { FORMAT_NAMES, type FormatName } from '../core/model/model.ts'
import type { SqlColumn } from './column-sql.ts'
import { CSV } from './csv.ts'
import { type DataFile, DEFAULT_ROW_BYTES, type FileSource, type Format } from './format.ts'
import { PARQUET } from './parquet.ts'

export const FORMATS: Readonly<Record<FormatName, Format>> = { csv: CSV, parquet: PARQUET }

/** Regular expression of the extensions of these formats, such as `(?:csv|csv\.gz|parquet)`. */
export function extensionPattern(names: readonly FormatName[] = FORMAT_NAMES): string {
  const extensions = names
    .map((name) => FORMATS[name])
    .flatMap(({ compressions, extension }) => compressions.map(extension))
  return `(?:${[...new Set(extensions)].map((extension) => extension.replaceAll('.', '\\.')).join('|')})`
}

/**
 * Whether text in an export's files is escaped. Manifests of older versions do not record `escapeFormulas`; its
 * default was true.
 */
export function hasEscapedText(job: { format: FormatName; escapeFormulas?: boolean }): boolean {
  return FORMATS[job.format].escapesFormulas && (job.escapeFormulas ?? true)
}

/**
 * Prepares a file for DuckDB. A file with rows that are too long for it is split into segments in the scratch folder.
 * An unreadable file is returned as it is, so that DuckDB reports what is wrong. Throws OUTPUT_FAILED if the segments
 * cannot be written.
 */
export async function openDataFile(path: string, format: FormatName, scratch: string): Promise<DataFile> {
  const file = unsplitFile(path, format)
  return FORMATS[format].splitLongRows?.(path, file, scratch) ?? file
}

/** The file itself, without measuring its rows. */
export function unsplitFile(path: string, format: FormatName): DataFile {
  const isGzipped = path.endsWith('.gz')
  return { format, paths: [path], isGzipped, maxRowBytes: DEFAULT_ROW_BYTES, close: async () => {} }
}

/** SQL source of the rows of files of one format and compression, in file order. */
export function sourceSql(file: FileSource & { format: FormatName }, columns: readonly SqlColumn[]): string {
  return FORMATS[file.format].sourceSql(file, columns)
}

/** SQL that selects cells from the rows of files, in order. Consecutive files of one compression are one source. */
export function selectSql(
  files: readonly DataFile[],
  cells: readonly string[],
  columns: readonly SqlColumn[],
): string {
  return groupFiles(files)
    .map((group) => `select ${cells.join(', ')} from ${sourceSql(group, columns)}`)
    .join(' union all ')
}

type FileGroup = FileSource & { format: FormatName }

function groupFiles(files: readonly DataFile[]): FileGroup[] {
  const groups: FileGroup[] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (last?.isGzipped !== file.isGzipped) groups.push(file)
    else groups[groups.length - 1] = combine(last, file)
  }
  return groups
}

function combine(total: FileGroup, next: FileGroup): FileGroup {
  const maxRowBytes = Math.max(total.maxRowBytes, next.maxRowBytes)
  return { ...total, maxRowBytes, paths: [...total.paths, ...next.paths] }
}
