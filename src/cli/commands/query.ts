import { text } from 'node:stream/consumers'
import { queryExport } from '../../read/query-export.ts'
import type { QueryResult } from '../../read/query-result.ts'
import { writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { outputArgument, resultFormatOption } from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { stdoutWriter } from '../result-file.ts'
import { usageError } from '../usage-error.ts'
import { warnIfRowsMissing } from '../warn-incomplete.ts'

/** Default maximum of rows on a terminal. */
const MAX_TERMINAL_ROWS = 100

const options = [
  resultFormatOption,
  option(
    'max-rows <count>',
    `Maximum rows of a table (default: ${MAX_TERMINAL_ROWS} on a terminal, otherwise all)`,
    { parse: parseRowCount },
  ),
]

export const command = defineCommand({
  name: 'query',
  summary: 'Query an export with SQL',
  description:
    'Query an export with SQL (DuckDB dialect), read-only. Every table is a view over the files that the manifest lists. 256-bit integers and amounts sort, compare and sum exactly, or the statement fails.',
  arguments: [
    outputArgument,
    { name: 'sql', description: 'One or more statements; if missing or -, they are read from stdin' },
  ],
  options,
  examples: [
    [
      'query output/demo "select sum(value) from transactions"',
      'Exact total value of all transactions, in wei',
    ],
    [
      'query output/demo < balances.sql --format csv > balances.csv',
      'Statements from a file, results as CSV',
    ],
  ],
  run: ({ output, sql, ...args }) => query(output, sql, args),
})

function parseRowCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usageError(
    `option '--max-rows <count>' argument '${text}' is invalid: expected a whole number of at least 1`,
  )
}

async function query(
  outputArg: string,
  sql: string | undefined,
  { format, maxRows }: OptionValues<typeof options>,
): Promise<void> {
  const terminalRows = process.stdout.isTTY ? MAX_TERMINAL_ROWS : undefined
  const { output } = await openOutput(outputArg)
  const sink = stdoutWriter()
  const statementText = await readStatements(sql)
  await warnIfRowsMissing(output)
  let isFirst = true
  for await (const result of queryExport(output, statementText)) {
    if (!isFirst) await sink.write('\n')
    isFirst = false
    await writeQueryResult(result, format, { ...sink, maxRows: maxRows ?? terminalRows })
    warnOfRounding(result)
  }
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
