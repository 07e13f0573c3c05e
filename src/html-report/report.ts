import { join } from 'node:path'
import { chainOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import { assertNotFolder, resolveOutputPath, writeNamedFile } from '../core/platform/user-file.ts'
import type { OpeningOption } from '../ledger/balances/read-opening.ts'
import { requireManifest } from '../read/dataset.ts'
import { collectData } from './data-collection.ts'
import { type ExportFacts, factsOf } from './export-facts.ts'
import { textIn } from './messages/text.ts'
import { collectOverview } from './overview.ts'
import { collectPortfolio } from './portfolio.ts'
import { renderPage } from './render-page.ts'
import type { View } from './view.ts'

/** Options of `report`: title, content and destination of the page. */
export type ReportOptions = {
  /** File to write. @default report.html in the (first) output folder */
  out?: string | undefined
  /** Title of the page. @default the name of the job; with several exports, all names */
  title?: string | undefined
  /** Opening balances, held before the first row of each export, as for `balances`. @default those that are known */
  opening?: OpeningOption
  /** CSV file of adjustments, as for `balances`. @default none */
  adjustments?: string | undefined
  /** CSV file with the columns `address` and `name`, for wallets without a label and counterparties. */
  names?: string | undefined
  /** CSV file of prices, in the format of `convert` (date, asset, currency, price, and chain for several chains). Adds fiat values to the page. */
  prices?: string | undefined
  /** Maximum number of rows on the page. The newest are included. @default 100000 */
  maxRows?: number
  /** Language of the page: `en` or `de`. @default en */
  language?: string | undefined
  /** Whether hashes and addresses link to the explorers of their chains. @default true */
  links?: boolean
}

/** Options of a page that is not written to a file. */
export type PageOptions = Omit<ReportOptions, 'out'>

export const REPORT_DEFAULTS = { maxRows: 100_000 } as const satisfies Partial<Required<ReportOptions>>

/** Default name of the page within an output folder. The page is not part of the export. */
export const REPORT_FILE = 'report.html'

/** The written page: its path, its size in bytes and the number of ledger rows in it. */
export type ReportResult = { file: string; bytes: number; rows: number }

/**
 * Writes a self-contained HTML page about one or more exports. The same exports give the same bytes. Memory grows with
 * `maxRows` and with the numbers of wallets and assets, not with the number of rows in the exports.
 *
 * @param outputs Output folders of the exports
 * @returns path, size and number of rows of the page
 * @throws `USAGE` if a folder contains no export, if a file named in the options is invalid, or if `out` is a folder, a
 * special file, part of an export or one of the files read here
 * @throws `OUTPUT_FAILED` if the page cannot be written
 *
 * @example
 * const { file } = await report(['output/my-wallets'], { title: 'Treasury 2024', prices: 'prices.csv' })
 */
export async function report(
  outputs: readonly [string, ...string[]],
  options: ReportOptions = {},
): Promise<ReportResult> {
  const file = options.out ?? join(outputs[0], REPORT_FILE)
  const inputs = {
    '--prices': options.prices,
    '--names': options.names,
    '--opening': options.opening || undefined,
    '--adjustments': options.adjustments,
  }
  const destination = await resolveOutputPath(file, { inputs, exports: outputs }, FIX)
  await assertNotFolder(file)
  const { page, rows } = await renderReport(outputs, options)
  await writeNamedFile(destination, page)
  return { file, bytes: Buffer.byteLength(page), rows }
}

const FIX = 'Name a file, or omit --out to write the page into the output folder.'

/**
 * Renders the page without writing it.
 *
 * @throws the same errors as `report`, except those about its destination
 */
export async function renderReport(
  outputs: readonly [string, ...string[]],
  options: PageOptions,
): Promise<{ page: string; rows: number }> {
  const text = textIn(options.language)
  const exports: ExportFacts[] = []
  for (const output of outputs) exports.push(await collectFacts(output, options))
  const [first, ...others] = exports
  if (first === undefined) throw new ExportError('BUG', 'a report of no export')
  const [output, ...more] = outputs.filter((_, at) => exports[at]?.overview === undefined)
  const { maxRows = REPORT_DEFAULTS.maxRows } = options
  const portfolio =
    output === undefined ? undefined : await collectPortfolio([output, ...more], { ...options, maxRows })
  const title = options.title ?? exports.map(({ manifest }) => manifest.job.name).join(', ')
  const hasSeveralChains = new Set(exports.map(({ chain }) => chain)).size > 1
  const nameOf = (chain: string, address: string) =>
    portfolio?.nameOf(chain, address) ||
    exports.map(({ overview }) => overview?.labels.get(address)).find((name) => name !== undefined) ||
    ''
  const hasLinks = options.links ?? true
  const explorerOf = (chain: string) => (hasLinks ? (chainOf(chain)?.explorer ?? '') : '')
  const view: View = {
    title,
    text,
    exports: [first, ...others],
    portfolio,
    hasSeveralChains,
    nameOf,
    hasLinks,
    explorerOf,
  }
  return { page: renderPage(view), rows: portfolio?.activity.included ?? 0 }
}

async function collectFacts(
  output: string,
  { opening, adjustments, prices, names }: PageOptions,
): Promise<ExportFacts> {
  const manifest = await requireManifest(output)
  const hasLedger = manifest.tables.ledger !== undefined
  if (!hasLedger && (typeof opening === 'string' || adjustments !== undefined || prices !== undefined))
    throw new ExportError(
      'USAGE',
      `${output} has no ledger, which opening balances, adjustments and prices require`,
      {
        fix: 'Omit --opening, --adjustments and --prices, or add ledger to the tables of the job and run it again.',
      },
    )
  const overview = hasLedger ? undefined : await collectOverview(output, names)
  return factsOf(manifest, await collectData(output, manifest, { opening, adjustments }), overview)
}
