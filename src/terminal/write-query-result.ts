import { csvRows } from '../core/platform/csv-rows.ts'
import { largest } from '../core/platform/extremes.ts'
import { formatCount } from './format.ts'
import { oneLine } from './log.ts'

export const RESULT_FORMATS = ['table', 'csv', 'json'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]

type Cell = string | number | boolean | null | object
/** A result with columns and rows. Numbers are right-aligned in tables. */
export type PrintableResult = {
  columns: readonly { name: string; isNumber: boolean }[]
  batches: AsyncIterable<readonly (readonly Cell[])[]>
}

export type ResultSink = {
  write(text: string): Promise<void> | void
  /** Width of the terminal in characters; undefined if the output is not a terminal. */
  width?: number | undefined
  /** Maximum number of rows in a table; further ones are only counted. Undefined for no limit. */
  maxRows?: number | undefined
}

/**
 * Writes a result as a table, as CSV (CONTRACT section 3), or as a JSON array of objects. Resolves with the
 * number of rows.
 */
export function writeQueryResult(
  result: PrintableResult,
  format: ResultFormat,
  sink: ResultSink,
): Promise<number> {
  return WRITERS[format](result, sink)
}

const WRITERS: Readonly<
  Record<ResultFormat, (result: PrintableResult, sink: ResultSink) => Promise<number>>
> = {
  table: writeTable,
  csv: writeCsv,
  json: writeJson,
}

const cellText = (cell: Cell): string | null => {
  if (cell === null) return null
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

async function writeCsv({ columns, batches }: PrintableResult, { write }: ResultSink): Promise<number> {
  let rows = 0
  await write(csvRows([columns.map(({ name }) => name)]))
  for await (const batch of batches) {
    rows += batch.length
    await write(csvRows(batch.map((row) => row.map(cellText))))
  }
  return rows
}

async function writeJson({ columns, batches }: PrintableResult, { write }: ResultSink): Promise<number> {
  let rows = 0
  for await (const batch of batches) {
    const lines = batch.map((row, at) => {
      const object = Object.fromEntries(columns.map(({ name }, column) => [name, row[column]]))
      return `${rows + at === 0 ? '[' : ','}\n${JSON.stringify(object)}`
    })
    await write(lines.join(''))
    rows += batch.length
  }
  await write(rows === 0 ? '[]\n' : '\n]\n')
  return rows
}

/** Number of rows from which column widths are determined. */
const WIDTH_SAMPLE_ROWS = 2_000

async function writeTable({ columns, batches }: PrintableResult, sink: ResultSink): Promise<number> {
  const { maxRows = Number.POSITIVE_INFINITY } = sink
  const printableColumns = columns.map(({ name, ...column }) => ({ ...column, name: oneLine(name) }))
  let [rows, buffered] = [0, [] as (readonly string[])[]]
  let formatRows: ((batch: readonly (readonly string[])[]) => string) | undefined
  for await (const batch of batches) {
    const shown = batch.slice(0, Math.max(maxRows - rows, 0))
    rows += batch.length
    for (const row of shown) buffered.push(row.map((cell) => oneLine(cellText(cell) ?? '')))
    if (buffered.length < WIDTH_SAMPLE_ROWS) continue
    formatRows ??= tableFormatter(printableColumns, buffered, sink)
    await sink.write(formatRows(buffered))
    buffered = []
  }
  formatRows ??= tableFormatter(printableColumns, buffered, sink)
  await sink.write(formatRows(buffered))
  if (rows === 0) await sink.write('0 rows\n')
  if (rows > maxRows)
    await sink.write(`… and ${formatCount(rows - maxRows, 'more row')} (--max-rows ${rows} shows all)\n`)
  return rows
}

/** Formats rows as columns. If these are wider than the terminal, each row becomes lines of `name  value`. */
function tableFormatter(
  columns: PrintableResult['columns'],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY }: ResultSink,
): (batch: readonly (readonly string[])[]) => string {
  const widths = columns.map(({ name }, at) =>
    rows.reduce((widest, row) => Math.max(widest, (row[at] ?? '').length), name.length),
  )
  const total = widths.reduce((sum, columnWidth) => sum + columnWidth + 2, -2)
  if (total > width) return recordFormatter(columns)
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, at) =>
      columns[at]?.isNumber ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    )
    return `${padded.join('  ').trimEnd()}\n`
  }
  let header = [
    line(columns.map(({ name }) => name)),
    line(widths.map((columnWidth) => '─'.repeat(columnWidth))),
  ]
  return (batch) => {
    const lines = [...header, ...batch.map(line)]
    header = []
    return lines.join('')
  }
}

function recordFormatter(
  columns: PrintableResult['columns'],
): (batch: readonly (readonly string[])[]) => string {
  const widest = largest(columns.map(({ name }) => name.length))
  return (batch) =>
    batch
      .map((row) => columns.map(({ name }, at) => `${name.padEnd(widest)}  ${row[at]}`.trimEnd()))
      .map((lines) => `${lines.join('\n')}\n\n`)
      .join('')
}
