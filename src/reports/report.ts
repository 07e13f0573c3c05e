import { join } from 'node:path'
import { writeAtomically } from '../core/disk.ts'
import { ExportError } from '../core/errors.ts'
import type { Manifest } from '../core/manifest.ts'
import { requireManifest } from '../read/open-export.ts'
import { figuresOf } from './figures.ts'
import { pageOf, type Shown } from './page.ts'

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

export const REPORT_DEFAULTS = { maxRows: 100_000 } as const satisfies Partial<Required<ReportOptions>>

/** The page's name within an output; it is no part of the export. */
export const REPORT_FILE = 'report.html'

/** What a report wrote. */
export type Reported = { file: string; bytes: number; rows: number }

/**
 * Writes one page over one export or several: self-contained, for people, the same bytes for the same export. Memory does
 * not grow with the rows beyond those that the page holds. Throws USAGE where there is no export, no ledger in one,
 * or a mistake in a file that the options name, OUTPUT_FAILED where the file cannot be written.
 */
export async function report(
  outputs: readonly [string, ...string[]],
  options: ReportOptions = {},
): Promise<Reported> {
  const { page, rows } = await renderReport(outputs, options)
  const file = options.out ?? join(outputs[0], REPORT_FILE)
  await writeAtomically(file, page)
  return { file, bytes: Buffer.byteLength(page), rows }
}

/** The page itself, and how many rows it holds. Throws as `report` does. */
export async function renderReport(
  outputs: readonly [string, ...string[]],
  options: Omit<ReportOptions, 'out'>,
): Promise<{ page: string; rows: number }> {
  const { opening, labels: names, prices, maxRows = REPORT_DEFAULTS.maxRows } = options
  if (prices !== undefined) requireOneChain(await Promise.all(outputs.map(requireManifest)))
  const shown: Shown[] = []
  for (const output of outputs) {
    const figures = await figuresOf(output, { opening, names, prices, maxRows })
    const title = outputs.length === 1 ? options.title : undefined
    shown.push({ title: title ?? figures.manifest.job.name, figures })
  }
  const title = options.title ?? shown.map((one) => one.title).join(', ')
  return {
    page: pageOf(shown as [Shown, ...Shown[]], title),
    rows: shown.reduce((sum, { figures }) => sum + figures.rows.held, 0),
  }
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
