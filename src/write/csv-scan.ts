import { quote } from './quote.ts'

export type CsvScan = {
  /** SQL type by column, in the order of the file. */
  columns: readonly { name: string; type: string }[]
  /** Bytes that a line may have. */
  longest: number
  packed?: boolean
}

/** SQL of DuckDB that reads our own CSV, without guessing: an empty field is null, quoted empty text is not. */
export function csvScan(files: readonly string[], { columns, longest, packed = false }: CsvScan): string {
  const options = [
    'header = true, auto_detect = false, strict_mode = true, hive_partitioning = false',
    `delim = ',', quote = '"', escape = '"', comment = '', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false, compression = '${packed ? 'gzip' : 'none'}'`,
    `max_line_size = ${longest}, buffer_size = ${2 * longest}, parallel = false`,
    `columns = {${columns.map(({ name, type }) => `${quote(name)}: '${type}'`).join(', ')}}`,
  ]
  return `read_csv(${listed(files)}, ${options.join(', ')})`
}

/** SQL: a list of paths that stand for themselves: letters that begin a pattern are made a class of one. */
export function listed(paths: readonly string[]): string {
  return `[${paths.map((path) => quote(path.replace(/[*?[]/g, '[$&]'))).join(', ')}]`
}
