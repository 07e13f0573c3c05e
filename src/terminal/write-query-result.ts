import { csvLine } from '../core/platform/csv-text.ts'
import { largest } from '../core/platform/extremes.ts'
import { counted } from './format.ts'
import { oneLine } from './log.ts'

export const ANSWER_FORMATS = ['table', 'csv', 'json'] as const
export type AnswerFormat = (typeof ANSWER_FORMATS)[number]

type Cell = string | number | boolean | null | object
/** Rows with their columns; numbers stand at the right of a table's column. */
export type Answer = {
  columns: readonly { name: string; isNumber: boolean }[]
  batches: AsyncIterable<readonly (readonly Cell[])[]>
}

export type AnswerSink = {
  write(text: string): Promise<void> | void
  /** Characters in a line of the terminal; undefined where nobody looks at one. */
  width?: number | undefined
  /** Rows that a table shows; the others are counted. Undefined: all. */
  maxRows?: number | undefined
}

/** Writes an answer as a table for people, as CSV (CONTRACT section 3), or as a JSON list of objects. Resolves with its rows. */
export function writeAnswer(answer: Answer, format: AnswerFormat, sink: AnswerSink): Promise<number> {
  return WRITERS[format](answer, sink)
}

const WRITERS: Readonly<Record<AnswerFormat, (answer: Answer, sink: AnswerSink) => Promise<number>>> = {
  table: writeTable,
  csv: writeCsv,
  json: writeJson,
}

const textOf = (cell: Cell): string | null => {
  if (cell === null) return null
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

async function writeCsv({ columns, batches }: Answer, { write }: AnswerSink): Promise<number> {
  let rows = 0
  await write(csvLine(columns.map(({ name }) => name)))
  for await (const batch of batches) {
    rows += batch.length
    await write(batch.map((row) => csvLine(row.map(textOf))).join(''))
  }
  return rows
}

async function writeJson({ columns, batches }: Answer, { write }: AnswerSink): Promise<number> {
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

/** Rows that the widths of a table are taken from. */
const MEASURED_ROWS = 2_000

async function writeTable({ columns, batches }: Answer, sink: AnswerSink): Promise<number> {
  const { maxRows = Number.POSITIVE_INFINITY } = sink
  const named = columns.map(({ name, ...column }) => ({ ...column, name: oneLine(name) }))
  let [rows, waiting] = [0, [] as (readonly string[])[]]
  let print: ((some: readonly (readonly string[])[]) => string) | undefined
  for await (const batch of batches) {
    const shown = batch.slice(0, Math.max(maxRows - rows, 0))
    rows += batch.length
    for (const row of shown) waiting.push(row.map((cell) => oneLine(textOf(cell) ?? '')))
    if (waiting.length < MEASURED_ROWS) continue
    print ??= tablePrinter(named, waiting, sink)
    await sink.write(print(waiting))
    waiting = []
  }
  print ??= tablePrinter(named, waiting, sink)
  await sink.write(print(waiting))
  if (rows === 0) await sink.write('0 rows\n')
  if (rows > maxRows)
    await sink.write(`… and ${counted(rows - maxRows, 'more row')} (--max-rows ${rows} shows all)\n`)
  return rows
}

/** Lines of columns; where these are wider than the terminal, each row becomes lines of `name  value`. */
function tablePrinter(
  columns: Answer['columns'],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY }: AnswerSink,
): (some: readonly (readonly string[])[]) => string {
  const widths = columns.map(({ name }, at) =>
    rows.reduce((widest, row) => Math.max(widest, (row[at] ?? '').length), name.length),
  )
  const total = widths.reduce((sum, one) => sum + one + 2, -2)
  if (total > width) return recordPrinter(columns)
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, at) =>
      columns[at]?.isNumber ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    )
    return `${padded.join('  ').trimEnd()}\n`
  }
  let head = [line(columns.map(({ name }) => name)), line(widths.map((one) => '─'.repeat(one)))]
  return (some) => {
    const lines = [...head, ...some.map(line)]
    head = []
    return lines.join('')
  }
}

function recordPrinter(columns: Answer['columns']): (some: readonly (readonly string[])[]) => string {
  const widest = largest(columns.map(({ name }) => name.length))
  return (some) =>
    some
      .map((row) => columns.map(({ name }, at) => `${name.padEnd(widest)}  ${row[at]}`.trimEnd()))
      .map((lines) => `${lines.join('\n')}\n\n`)
      .join('')
}
