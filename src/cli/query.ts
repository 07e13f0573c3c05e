import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { ExportError } from '../core/errors.ts'
import { askExport } from '../read/ask-export.ts'
import { ANSWER_FORMATS, type AnswerFormat, writeAnswer } from '../report/write-answer.ts'
import { answerSink } from './answer-sink.ts'
import { addExamples } from './examples.ts'
import { openLog } from './log.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'

export function queryCommand(program: Command): void {
  const command = program
    .command('query')
    .summary('ask an export in SQL')
    .description(
      'Asks an export in SQL (of DuckDB): every table is a view over the files that the manifest lists. Numbers of 256 bits sum exactly; nothing is changed.',
    )
    .argument('<output>', OUTPUT_OR_JOB)
    .argument('[sql]', 'one or several statements; without it, or as -, they are read from stdin')
    .addOption(
      new Option('--format <format>', 'how answers are written').choices(ANSWER_FORMATS).default('table'),
    )
    .action(query)
  addExamples(
    command,
    [
      'query output/demo "select sum(value) from transactions"',
      'what all transactions carried, in wei, to the last digit',
    ],
    [
      'query output/demo < balances.sql --format csv > balances.csv',
      'statements from a file, the answer as CSV',
    ],
  )
}

async function query(
  word: string,
  sql: string | undefined,
  { format }: { format: AnswerFormat },
): Promise<void> {
  const { output } = await outputOf(word)
  const sink = answerSink()
  let isFirst = true
  for await (const answer of askExport(output, await statements(sql))) {
    if (!isFirst) await sink.write('\n')
    isFirst = false
    await writeAnswer(answer, format, sink)
  }
}

async function statements(sql: string | undefined): Promise<string> {
  const given = sql === undefined || sql === '-' ? await typed() : sql
  if (given.trim() !== '') return given
  throw new ExportError('USAGE', 'there is no statement to ask', {
    fix: 'Give it in quotes after the output, such as "select count(*) from ledger", or on stdin.',
  })
}

/** All of stdin. Who sits before it is told that something is waited for. */
function typed(): Promise<string> {
  const { stdin } = process
  if (stdin.isTTY) openLog({}).info('type statements, then Ctrl-D on a line of its own')
  return text(stdin)
}
