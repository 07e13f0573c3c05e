import { type Command, InvalidArgumentError, Option } from 'commander'
import { say } from '../report/say.ts'
import { counted, sized } from '../report/words.ts'
import { REPORT_DEFAULTS, REPORT_FILE, report } from '../reports/report.ts'
import { serveReport } from '../reports/serve-report.ts'
import { putBeside } from '../store/put-beside.ts'
import { addExamples } from './examples.ts'
import { warnOfMissing } from './gaps.ts'
import { openLog } from './log.ts'
import { openPage } from './open-page.ts'
import { type NamedOutput, OUTPUT_OR_JOB, outputOf } from './output-of.ts'
import { stopAsked } from './signals.ts'

type ReportArguments = {
  out?: string
  title?: string
  labels?: string
  opening?: string
  prices?: string
  maxRows: number
  serve?: boolean
  open?: boolean
}

export function reportCommand(program: Command): void {
  const command = program
    .command('report')
    .summary('a page that one looks at')
    .description(
      'Writes one page, for people: what the wallets did, whether the export is complete, and what looks wrong. It needs no network; strangers cannot run anything in it.',
    )
    .argument('<output...>', `${OUTPUT_OR_JOB}; several make one page`)
    .option('--out <file>', 'the page (default: report.html in the output)')
    .option('--title <text>', 'what the page is called (default: the name of the job)')
    .option('--labels <file>', 'CSV with address,label: what wallets and others are called')
    .option('--opening <file>', 'CSV of what wallets had before the first row')
    .option('--prices <file>', 'CSV with date,asset,currency,price: what balances and fees are worth')
    .option('--max-rows <count>', 'rows that the page holds, the newest', rowCount, REPORT_DEFAULTS.maxRows)
    .option('--open', 'open it in the browser')
    .addOption(
      new Option('--serve', 'show it on this machine instead, anew whenever the export changes').conflicts([
        'out',
        'open',
      ]),
    )
    .action(writeReport)
  addExamples(
    command,
    ['report output/mine', 'writes output/mine/report.html'],
    ['report output/a output/b --out both.html', 'two exports on one page'],
    ['report output/mine --prices prices.csv', 'with what balances and fees are worth'],
    ['report output/mine --serve', 'beside a nightly run or a watch'],
  )
}

function rowCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number up to 9,999,999 is expected.')
}

async function writeReport(words: string[], options: ReportArguments): Promise<void> {
  const outputs: NamedOutput[] = []
  for (const word of new Set(words)) outputs.push(await outputOf(word))
  for (const { output } of outputs) await warnOfMissing(output)
  const named = outputs.map(({ output }) => output) as [string, ...string[]]
  if (options.serve) return showReport(named, options)
  const { file, bytes, rows } = await report(named, options)
  const first = outputs[0]
  const isBeside = options.out === undefined && first?.store !== undefined
  if (isBeside) await putBeside(first, REPORT_FILE)
  const log = openLog({})
  log.info(
    `wrote ${isBeside ? `${first.name}/${REPORT_FILE}` : file} (${sized(bytes)}, ${counted(rows, 'row')}): open it in a browser`,
  )
  if (options.open && !(await openPage(file))) log.warn('no browser was found to open it with')
}

async function showReport(outputs: readonly [string, ...string[]], options: ReportArguments): Promise<void> {
  const served = await serveReport(outputs, options)
  say(`report on ${served.url} (nobody else finds it there); stop it with Ctrl-C`)
  await stopAsked()
  await served.close()
}
