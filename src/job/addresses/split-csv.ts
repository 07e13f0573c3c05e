export type CsvField = {
  readonly text: string
  /** Column of the line at which the field starts, from 1. */
  readonly column: number
}

/** Field separator: a comma, or one that spreadsheets write in locales with a decimal comma. */
export type Separator = ',' | ';' | '\t'

/**
 * Splits one line of CSV (RFC 4180) into fields. Quoted fields may contain separators, and doubled quotes for quotes.
 * Blanks around an unquoted field are removed. Returns undefined if a quote is not closed or is followed by text.
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
