import {
  type PageOptions,
  REPORT_DEFAULTS,
  REPORT_FILE,
  renderReport,
  report,
} from '../../html-report/report.ts'
import { serveReport } from '../../html-report/serve-report.ts'
import { uploadSidecar } from '../../storage/upload-sidecar.ts'
import { formatBytes, formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { openInBrowser } from '../open-browser.ts'
import { chooseFormat, fileOf } from '../options/file-format.ts'
import { openLog } from '../options/log.ts'
import { openingOptions } from '../options/opening-option.ts'
import { type LocatedOutput, OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { waitForStopSignal } from '../signals.ts'
import { stdoutWriter } from '../stdout-writer.ts'
import { usageError } from '../usage-error.ts'
import { warnIfRowsMissing } from '../warn-incomplete.ts'
import { warnUnmatched } from '../warn-unmatched.ts'

const options = defineOptions([
  { name: 'out', value: '<file>', description: 'File to write (default: report.html in the output)' },
  { name: 'title', value: '<text>', description: 'Title of the report (default: the name of the job)' },
  {
    name: 'names',
    value: '<file>',
    description: 'CSV file (address,name) that names counterparties, and wallets without a label',
  },
  ...openingOptions,
  {
    name: 'prices',
    value: '<file>',
    description:
      'CSV file of prices (date,asset,currency,price; chain for several chains) for the fiat value of balances and fees',
  },
  {
    name: 'max-rows',
    value: '<count>',
    default: String(REPORT_DEFAULTS.maxRows),
    description: 'Maximum ledger rows in the report, newest first',
  },
  { name: 'open', description: 'Open the report in the browser' },
  {
    name: 'serve',
    conflicts: ['out', 'open'],
    description: 'Serve the report on this machine instead, and update it when the export changes',
  },
])

export const command = defineCommand({
  name: 'report',
  summary: 'Write an HTML report of an export',
  description:
    'Write an HTML report: activity of the wallets, completeness of the export, and anything suspicious. The page works offline and cannot run untrusted text.',
  arguments: [
    {
      name: 'output',
      required: true,
      repeatable: true,
      description: `${OUTPUT_OR_JOB}; several are combined into one report`,
    },
  ],
  options,
  examples: [
    ['report output/mine', 'Write output/mine/report.html'],
    ['report output/a output/b --out both.html', 'Two exports in one report'],
    ['report output/mine --prices prices.csv', 'With the fiat value of balances and fees'],
    ['report output/mine --serve', 'Follow an export that `run` or `watch` updates'],
  ],
  run: ({ output, ...args }) => writeReport(output, args),
})

/** Throws USAGE. */
function readRowCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw usageError(
    `option '--max-rows <count>' argument '${text}' is invalid: expected a whole number up to 9,999,999`,
  )
}

/** How to get the page as PDF. */
const PDF_FIX = {
  pdf: 'Name a file that ends in .html, and print it from a browser: chromium --headless --print-to-pdf=FILE.pdf FILE.html',
}

async function writeReport(
  outputArgs: string[],
  { serve, open, maxRows, ...pageOptions }: OptionValues<typeof options>,
): Promise<void> {
  const options = { ...pageOptions, maxRows: readRowCount(maxRows) }
  chooseFormat(options.out, { formats: ['html'], fallback: 'html', fixes: PDF_FIX })
  const outputs: LocatedOutput[] = []
  for (const outputArg of new Set(outputArgs)) outputs.push(await openOutput(outputArg))
  for (const { output } of outputs) await warnIfRowsMissing(output)
  const folders = outputs.map(({ output }) => output) as [string, ...string[]]
  if (serve) return serveReportUntilStopped(folders, options)
  if (options.out !== undefined && fileOf(options.out) === undefined)
    return stdoutWriter().write((await renderReport(folders, options)).page)
  const { file, bytes, rows } = await report(folders, options)
  const first = outputs[0]
  const isUploaded = options.out === undefined && first?.store !== undefined
  if (isUploaded) await uploadSidecar(first, REPORT_FILE)
  const log = openLog({})
  log.info(
    `wrote ${isUploaded ? `${first.name}/${REPORT_FILE}` : file} (${formatBytes(bytes)}, ${formatCount(rows, 'row')}): open it in a browser`,
  )
  await warnUnmatched(folders, options)
  if (open && !(await openInBrowser(file))) log.warn('no browser was found to open it with')
}

async function serveReportUntilStopped(
  outputs: readonly [string, ...string[]],
  options: PageOptions,
): Promise<void> {
  const served = await serveReport(outputs, options)
  print(`report on ${served.url} (only on this machine); stop it with Ctrl-C`)
  await waitForStopSignal()
  await served.close()
}
