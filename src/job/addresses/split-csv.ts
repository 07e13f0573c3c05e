export type CsvField = {
  readonly text: string
  /** Where the field begins in its line, from 1. */
  readonly column: number
}

/** What stands between fields: a comma, or what spreadsheets write where the comma is for decimals. */
export type Separator = ',' | ';' | '\t'

/**
 * The fields of one line of CSV (RFC 4180): quotes around a field may hold separators, a doubled quote stands for one.
 *
 * Blanks around an unquoted field are dropped. Undefined where a quote is not closed, or text follows a closed one.
 */
export function splitCsv(line: string, separator: Separator): readonly CsvField[] | undefined {
  const fields: CsvField[] = []
  const field = FIELD[separator]
  for (let start = 0; start <= line.length; ) {
    field.lastIndex = start
    const [match = '', inQuotes, plain = ''] = field.exec(line) ?? []
    const end = start + match.length
    if (end < line.length && line[end] !== separator) return undefined
    if (inQuotes === undefined && plain.includes('"')) return undefined
    const blanks = match.length - match.trimStart().length
    fields.push({ text: inQuotes?.replaceAll('""', '"') ?? plain.trim(), column: start + blanks + 1 })
    start = end + 1
  }
  return fields
}

const FIELD: Readonly<Record<Separator, RegExp>> = {
  ',': /[ \t]*"((?:[^"]|"")*)"[ \t]*|([^,]*)/y,
  ';': /[ \t]*"((?:[^"]|"")*)"[ \t]*|([^;]*)/y,
  '\t': / *"((?:[^"]|"")*)" *|([^\t]*)/y,
}
