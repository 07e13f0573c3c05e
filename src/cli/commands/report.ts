import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { resolve } from 'node:path'
import { LANGUAGE_NAMES } from '../../html-report/messages/text.ts'
import { REPORT_DEFAULTS, REPORT_FILE, renderReport, report } from '../../html-report/report.ts'
import { serveReport } from '../../html-report/serve-report.ts'
import { uploadSidecar } from '../../storage/open-store.ts'
import { formatBytes, formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import { autoPriceOptions, priceFileOf } from '../fetch-price-file.ts'
import { warnUnmatched } from '../file-warnings.ts'
import {
  adjustmentsOption,
  namesOption,
  openingOption,
  outputsArgument,
  pricesOption,
} from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { openOutputs } from '../options/output-argument.ts'
import { announceFolder, chooseFormat, fileOf, stdoutWriter } from '../result-file.ts'
import { waitForStopSignal } from '../signals.ts'
import { usageError } from '../usage-error.ts'
import { warnIfRowsMissing } from '../warn-incomplete.ts'

export const command = defineCommand({
  name: 'report',
  summary: 'Write an HTML report of an export',
  description:
    'Write an HTML report: what the wallets hold and what it is worth, what happened, a statement for each year, and whether the export is complete. The page works offline, makes no requests and cannot run untrusted text.',
  arguments: [{ ...outputsArgument(' are combined into one report'), required: true }],
  options: [
    option('out <file>', 'File to write (default: report.html in the output)'),
    option('title <text>', 'Title of the report (default: the name of the job)'),
    namesOption('counterparties, and wallets without a label'),
    openingOption,
    adjustmentsOption,
    pricesOption('the fiat value of balances and fees'),
    ...autoPriceOptions,
    option('max-rows <count>', 'Maximum ledger rows in the report, newest first', {
      default: String(REPORT_DEFAULTS.maxRows),
      parse: parseRowCount,
    }),
    option('language <code>', 'Language of the report', { choices: LANGUAGE_NAMES, default: 'en' }),
    option('links', 'Do not link hashes and addresses to the explorers of their chains', { negatable: true }),
    option('open', 'Open the report in the browser'),
    option('serve', 'Serve the report on this machine instead, and update it when the export changes', {
      conflicts: ['out', 'open'],
    }),
  ],
  examples: [
    ['report output/mine', 'Write output/mine/report.html'],
    ['report output/a output/b --out both.html', 'One report of two exports, such as of two chains'],
    ['report output/mine --prices prices.csv', 'With the fiat value of balances and fees'],
    ['report output/mine --language de', 'In German'],
    ['report output/mine --serve', 'Follow an export that `run` or `watch` updates'],
  ],
  run: async ({ output: outputArgs, serve, open, ...args }) => {
    chooseFormat(args.out, { formats: ['html'], fallback: 'html', fixes: PDF_FIX })
    const outputs = await openOutputs(outputArgs)
    const prices = await priceFileOf(outputs, { ...args, yearEnds: true })
    const settings = { ...args, prices }
    for (const { output } of outputs) await warnIfRowsMissing(output)
    const folders = outputs.map(({ output }) => output) as [string, ...string[]]
    if (serve) {
      const served = await serveReport(folders, settings)
      print(`report on ${served.url} (only on this machine); stop it with Ctrl-C`)
      await waitForStopSignal()
      return served.close()
    }
    if (settings.out !== undefined && fileOf(settings.out) === undefined)
      return stdoutWriter().write((await renderReport(folders, settings)).page)
    if (settings.out !== undefined) await announceFolder(settings.out)
    const { file, bytes, rows } = await report(folders, settings)
    const first = outputs[0]
    const isUploaded = settings.out === undefined && first?.store !== undefined
    if (isUploaded) await uploadSidecar(first, REPORT_FILE)
    const log = openLog({})
    log.info(
      `wrote ${isUploaded ? `${first.name}/${REPORT_FILE}` : file} (${formatBytes(bytes)}, ${formatCount(rows, 'row')}): open it in a browser`,
    )
    await warnUnmatched(folders, settings)
    if (open && !(await openInBrowser(file))) log.warn('no browser was found to open it with')
  },
})

function parseRowCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw usageError(
    `option '--max-rows <count>' argument '${text}' is invalid: expected a whole number up to 9,999,999`,
  )
}

/** How to get the page as PDF. */
const PDF_FIX = {
  pdf: 'Name a file that ends in .html, and print it from a browser: chromium --headless --print-to-pdf=FILE.pdf FILE.html',
}

/** Command that opens a file in the default browser, by platform. Other platforms use xdg-open. */
const OPEN_COMMANDS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens a file in the browser, without waiting for it. Resolves with false if the command cannot be started. */
async function openInBrowser(file: string): Promise<boolean> {
  const [command = '', ...args] = OPEN_COMMANDS[platform()] ?? ['xdg-open']
  const child = spawn(command, [...args, resolve(file)], { detached: true, stdio: 'ignore' })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return false
  }
}
