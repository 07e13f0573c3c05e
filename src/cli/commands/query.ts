import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { TABLES } from '../../core/table/index.ts'
import { type ChartTable, renderQueryChart } from '../../html-report/query-chart.ts'
import { queryExport } from '../../read/query-export.ts'
import type { QueryResult, ResultCell } from '../../read/query-result.ts'
import { writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument, resultFormatOption } from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { chooseFormat, openResultFile, stdoutWriter } from '../result-file.ts'
import { usageError } from '../usage-error.ts'
import { warnIfRowsMissing } from '../warn-incomplete.ts'

/** Default maximum of rows on a terminal. */
const MAX_TERMINAL_ROWS = 100

export const command = defineCommand({
  name: 'query',
  summary: 'Query an export with SQL',
  description:
    'Query an export with SQL (DuckDB dialect), read-only. Every table is a view over the files that the manifest lists. 256-bit integers and amounts sort, compare and sum exactly, or the statement fails.',
  arguments: [
    outputArgument,
    { name: 'sql', description: 'One or more statements; if missing or -, they are read from stdin' },
  ],
  options: [
    resultFormatOption,
    option(
      'max-rows <count>',
      `Maximum rows of a table (default: ${MAX_TERMINAL_ROWS} on a terminal, otherwise all)`,
      { parse: parseRowCount },
    ),
    option('with <name=file>', 'CSV file of yours as a table of this name, with a header (repeatable)', {
      repeatable: true,
    }),
    option('chart <file>', 'Also draw the result of the last statement, as lines or bars, into an HTML file'),
  ],
  examples: [
    [
      'query output/demo "select sum(value) from transactions"',
      'Exact total value of all transactions, in wei',
    ],
    [
      'query output/demo < balances.sql --format csv > balances.csv',
      'Statements from a file, results as CSV',
    ],
    ['query output/demo --with users=users.csv < joined.sql', 'With a file of yours as a table'],
    ['query output/demo --chart days.html < days.sql', 'A chart of the result'],
  ],
  run: async ({ output: outputArg, sql, format, maxRows, with: tables = [], chart }) => {
    const files = csvTablesOf(tables)
    chooseFormat(chart, { formats: ['html'], fallback: 'html' })
    const terminalRows = process.stdout.isTTY ? MAX_TERMINAL_ROWS : undefined
    const { output } = await openOutput(outputArg)
    const inputs = Object.fromEntries([...files].map(([name, file]) => [`--with ${name}`, file]))
    const page =
      chart === undefined
        ? undefined
        : await openResultFile({ file: chart, protectedPaths: { inputs, exports: [output] } })
    const sink = stdoutWriter()
    const statementText = await readStatements(sql)
    await warnIfRowsMissing(output)
    let isFirst = true
    let drawn: ChartTable = { columns: [], rows: [] }
    for await (const result of queryExport(output, statementText, { tables: files })) {
      if (!isFirst) await sink.write('\n')
      isFirst = false
      const rows: ResultCell[][] = []
      const shown = page === undefined ? result : { ...result, batches: keepRows(result, rows) }
      await writeQueryResult(shown, format, { ...sink, maxRows: maxRows ?? terminalRows })
      warnOfRounding(result)
      drawn = { columns: result.columns, rows }
    }
    if (page === undefined) return
    await page.write(renderQueryChart(basename(chart ?? '', '.html'), drawn))
    await page.close()
    openLog({}).info(`chart: ${chart}`)
  },
})

function parseRowCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usageError(
    `option '--max-rows <count>' argument '${text}' is invalid: expected a whole number of at least 1`,
  )
}

/** Passes on the rows of a result and keeps them. */
async function* keepRows({ batches }: QueryResult, rows: ResultCell[][]) {
  for await (const batch of batches) {
    for (const row of batch) rows.push([...row])
    yield batch
  }
}

/** The files of `--with` by table name. Throws USAGE. */
function csvTablesOf(texts: readonly string[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const text of texts) {
    const [, name = '', file = ''] = /^([a-z_][a-z0-9_]{0,62})=(.+)$/.exec(text) ?? []
    if (name === '')
      throw usageError(
        `--with: found ${text}, expected a name and a file`,
        'Write it as --with users=users.csv; a name has lower-case letters, digits and _.',
      )
    if (files.has(name) || TABLES.some((table) => table.name === name))
      throw usageError(`--with: the name ${name} is taken`, 'Give the file another name.')
    files.set(name, file)
  }
  return files
}

/** Warns about floating-point columns: DuckDB has no exact average, product or quotient of large numbers. */
function warnOfRounding({ columns }: QueryResult): void {
  const rounded = columns.filter(({ isRounded }) => isRounded).map(({ name }) => name)
  if (rounded.length > 0)
    openLog({}).warn(
      `floating point, of which about 16 digits are right: ${rounded.join(', ')} (sum, min, max, + and - are exact)`,
    )
}

async function readStatements(sql: string | undefined): Promise<string> {
  const text = sql === undefined || sql === '-' ? await readStdin() : sql
  if (text.trim() !== '') return text
  throw usageError(
    'there is no statement to run',
    'Give it in quotes after the output, such as "select count(*) from ledger", or on stdin.',
  )
}

/** Reads stdin to its end. On a terminal, logs that input is expected. */
function readStdin(): Promise<string> {
  const { stdin } = process
  if (stdin.isTTY) openLog({}).info('type statements, then Ctrl-D on a line of its own')
  return text(stdin)
}
