import { formatCount } from './html.ts'
import type { Overview } from './overview.ts'
import type { PageModel } from './page-model.ts'
import { dataCollectionSection } from './sections/data-collection.ts'
import { OVERVIEW_LIMITS } from './sections/limits.ts'
import { overviewSummarySection } from './sections/overview-summary.ts'
import { sendersSection, tablesSection } from './sections/overview-tables.ts'

/** The page of an export without a ledger: what its tables contain and how complete they are. */
export function overviewPageModel(overview: Overview, title: string): PageModel {
  const { manifest, transactions } = overview
  return {
    title,
    chain: manifest.job.chain,
    rows: 0,
    limits: OVERVIEW_LIMITS,
    summary:
      transactions === undefined
        ? 'no ledger'
        : `${formatCount(transactions.count, 'transaction')}, no ledger`,
    renderSections: () => [
      overviewSummarySection(overview, title),
      tablesSection(overview),
      sendersSection(overview),
      dataCollectionSection(overview),
    ],
    renderData: () => '',
  }
}
