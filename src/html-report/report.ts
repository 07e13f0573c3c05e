import { join } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { assertNotFolder, resolveOutputPath, writeNamedFile } from '../core/platform/user-file.ts'
import { requireManifest } from '../read/open-export.ts'
import { collectFacts } from './facts.ts'
import { factsPageModel } from './facts-page-model.ts'
import { ledgerPageModel } from './ledger-page-model.ts'
import { collectLedgerStats } from './ledger-stats.ts'
import { renderPage } from './page.ts'
import type { PageModel } from './page-model.ts'

/** What a report is called, what it holds, and where it goes. */
export type ReportOptions = {
  /** The file to write. @default report.html in the (first) output */
  out?: string | undefined
  /** What the page is called. @default the name of the job */
  title?: string | undefined
  /** CSV of what wallets had before the first row, as `balances` takes it. */
  opening?: string | undefined
  /** CSV with `address` and `label`: what wallets and other parties are called. */
  labels?: string | undefined
  /** CSV with the columns date, asset, currency and price, as `convert` takes it: what balances and fees are worth. */
  prices?: string | undefined
  /** Rows that the page holds, the newest. @default 100000 */
  maxRows?: number
}

/** The same of a page that goes into no file. */
export type PageOptions = Omit<ReportOptions, 'out'>

export const REPORT_DEFAULTS = { maxRows: 100_000 } as const satisfies Partial<Required<ReportOptions>>

/** The page's name within an output; it is no part of the export. */
export const REPORT_FILE = 'report.html'

/** What a report wrote. */
export type ReportResult = { file: string; bytes: number; rows: number }

/**
 * Writes one page over one export or several: self-contained, for people, the same bytes for the same export. Memory does
 * not grow with the rows beyond those that the page holds. Throws USAGE where there is no export
 * or a mistake in a file that the options name, or for an `out` that is no file or that is
 * read here, OUTPUT_FAILED where the file cannot be written.
 */
export async function report(
  outputs: readonly [string, ...string[]],
  options: ReportOptions = {},
): Promise<ReportResult> {
  const file = options.out ?? join(outputs[0], REPORT_FILE)
  const inputs = { '--prices': options.prices, '--labels': options.labels, '--opening': options.opening }
  const destination = await resolveOutputPath(file, { inputs, exports: outputs }, FIX)
  await assertNotFolder(file)
  const { page, rows } = await renderReport(outputs, options)
  await writeNamedFile(destination, page)
  return { file, bytes: Buffer.byteLength(page), rows }
}

const FIX = 'Name a file, or leave --out away: the page is then in the output.'

/** The page itself, and how many rows it holds. Throws as `report` does. */
export async function renderReport(
  outputs: readonly [string, ...string[]],
  options: PageOptions,
): Promise<{ page: string; rows: number }> {
  const manifests = await Promise.all(outputs.map(requireManifest))
  if (options.prices !== undefined) requireOneChain(manifests)
  const models: PageModel[] = []
  for (const [at, output] of outputs.entries()) {
    const { job, tables } = manifests[at] as Manifest
    const title = (outputs.length === 1 ? options.title : undefined) ?? job.name
    const hasLedger = tables.ledger !== undefined
    models.push(
      hasLedger ? await ledgerModel(output, title, options) : await factsModel(output, title, options),
    )
  }
  const title = options.title ?? models.map((one) => one.title).join(', ')
  return {
    page: renderPage(models as [PageModel, ...PageModel[]], title),
    rows: models.reduce((sum, { rows }) => sum + rows, 0),
  }
}

async function ledgerModel(output: string, title: string, options: PageOptions): Promise<PageModel> {
  const { opening, labels: names, prices, maxRows = REPORT_DEFAULTS.maxRows } = options
  return ledgerPageModel(await collectLedgerStats(output, { opening, names, prices, maxRows }), title)
}

async function factsModel(
  output: string,
  title: string,
  { opening, prices, labels }: PageOptions,
): Promise<PageModel> {
  if (opening !== undefined || prices !== undefined)
    throw new ExportError('USAGE', `${output} holds no ledger, which opening balances and prices are for`, {
      fix: 'Leave --opening and --prices out, or add ledger to the tables of the job and run it again with --fresh.',
    })
  return factsPageModel(await collectFacts(output, labels), title)
}

/** The coin is `native` in a file of prices, of whatever chain. */
function requireOneChain(manifests: readonly Manifest[]): void {
  const chains = [...new Set(manifests.map(({ job }) => job.chain))]
  if (chains.length === 1) return
  throw new ExportError(
    'USAGE',
    `prices are of one chain, and these exports are of chains ${chains.join(' and ')}`,
    {
      fix: 'Make a page for each chain, with the prices of its coin.',
    },
  )
}
