import type { Facts } from './facts.ts'
import { formatCount } from './html.ts'
import type { PageModel } from './page-model.ts'
import { dataCollectionSection } from './sections/data-collection.ts'
import { factsSummarySection } from './sections/facts-summary.ts'
import { sendersSection, tablesSection } from './sections/facts-tables.ts'
import { FACTS_LIMITS } from './sections/limits.ts'

/** The page of an export without a ledger: what its tables contain and how complete they are. */
export function factsPageModel(facts: Facts, title: string): PageModel {
  const { manifest, transactions } = facts
  return {
    ...{ title, chain: manifest.job.chain, rows: 0, limits: FACTS_LIMITS },
    summary:
      transactions === undefined
        ? 'no ledger'
        : `${formatCount(transactions.count, 'transaction')}, no ledger`,
    renderSections: () => [
      ...[
        factsSummarySection(facts, title),
        tablesSection(facts),
        sendersSection(facts),
        dataCollectionSection(facts),
      ],
    ],
    renderData: () => '',
  }
}
