import { type Command, InvalidArgumentError, Option } from 'commander'
import { REPORT_DEFAULTS, REPORT_FILE, report } from '../../html-report/report.ts'
import { serveReport } from '../../html-report/serve-report.ts'
import { uploadSidecar } from '../../storage/upload-sidecar.ts'
import { formatBytes, formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { addExamples } from '../examples.ts'
import { openInBrowser } from '../open-browser.ts'
import { openLog } from '../options/log.ts'
import { type LocatedOutput, OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { waitForStopSignal } from '../signals.ts'
import { warnIfRowsMissing } from '../warn-incomplete.ts'

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
    .summary('Write an HTML report of an export')
    .description(
      'Write an HTML report: activity of the wallets, completeness of the export, and anything suspicious. The page works offline and cannot run untrusted text.',
    )
    .argument('<output...>', `${OUTPUT_OR_JOB}; several are combined into one report`)
    .option('--out <file>', 'File to write (default: report.html in the output)')
    .option('--title <text>', 'Title of the report (default: the name of the job)')
    .option('--labels <file>', 'CSV file (address,label) that names wallets and counterparties')
    .option('--opening <file>', 'CSV file of opening balances')
    .option(
      '--prices <file>',
      'CSV file of prices (date,asset,currency,price) for the fiat value of balances and fees',
    )
    .option(
      '--max-rows <count>',
      'Maximum ledger rows in the report, newest first',
      rowCount,
      REPORT_DEFAULTS.maxRows,
    )
    .option('--open', 'Open the report in the browser')
    .addOption(
      new Option(
        '--serve',
        'Serve the report on this machine instead, and update it when the export changes',
      ).conflicts(['out', 'open']),
    )
    .action(writeReport)
  addExamples(
    command,
    ['report output/mine', 'Write output/mine/report.html'],
    ['report output/a output/b --out both.html', 'Two exports in one report'],
    ['report output/mine --prices prices.csv', 'With the fiat value of balances and fees'],
    ['report output/mine --serve', 'Follow an export that `run` or `watch` updates'],
  )
}

function rowCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a whole number up to 9,999,999 is expected.')
}

async function writeReport(outputArgs: string[], options: ReportArguments): Promise<void> {
  const outputs: LocatedOutput[] = []
  for (const outputArg of new Set(outputArgs)) outputs.push(await openOutput(outputArg))
  for (const { output } of outputs) await warnIfRowsMissing(output)
  const folders = outputs.map(({ output }) => output) as [string, ...string[]]
  if (options.serve) return serveReportUntilStopped(folders, options)
  const { file, bytes, rows } = await report(folders, options)
  const first = outputs[0]
  const isUploaded = options.out === undefined && first?.store !== undefined
  if (isUploaded) await uploadSidecar(first, REPORT_FILE)
  const log = openLog({})
  log.info(
    `wrote ${isUploaded ? `${first.name}/${REPORT_FILE}` : file} (${formatBytes(bytes)}, ${formatCount(rows, 'row')}): open it in a browser`,
  )
  if (options.open && !(await openInBrowser(file))) log.warn('no browser was found to open it with')
}

async function serveReportUntilStopped(
  outputs: readonly [string, ...string[]],
  options: ReportArguments,
): Promise<void> {
  const served = await serveReport(outputs, options)
  print(`report on ${served.url} (nobody else finds it there); stop it with Ctrl-C`)
  await waitForStopSignal()
  await served.close()
}
