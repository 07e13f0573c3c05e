import type { Facts } from './facts.ts'
import { counted } from './html.ts'
import type { Article } from './page-model.ts'
import { readingSection } from './sections/data-collection.ts'
import { factsHeadSection } from './sections/facts-summary.ts'
import { sendersSection, tablesSection } from './sections/facts-tables.ts'
import { FACTS_LIMITS } from './sections/limits.ts'

/** An export without a ledger: what its tables hold, and how complete they are. */
export function factsArticle(facts: Facts, title: string): Article {
  const { manifest, transactions } = facts
  return {
    ...{ title, chain: manifest.job.chain, rows: 0, limits: FACTS_LIMITS },
    told:
      transactions === undefined ? 'no ledger' : `${counted(transactions.count, 'transaction')}, no ledger`,
    sectionsAt: () => [
      ...[factsHeadSection(facts, title), tablesSection(facts), sendersSection(facts), readingSection(facts)],
    ],
    dataAt: () => '',
  }
}
