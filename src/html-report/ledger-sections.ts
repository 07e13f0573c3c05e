import { formatCount } from './html.ts'
import type { LedgerStats } from './ledger-stats.ts'
import type { PageModel } from './page-model.ts'
import { assetsSection } from './sections/assets.ts'
import { balancesSection } from './sections/balances.ts'
import { compareSection, comparisonData } from './sections/compare.ts'
import { counterpartiesSection } from './sections/counterparties.ts'
import { dataCollectionSection, feesSection } from './sections/data-collection.ts'
import { ledgerLimits } from './sections/limits.ts'
import { nftsSection } from './sections/nfts.ts'
import { rowsSection } from './sections/rows.ts'
import { summarySection } from './sections/summary.ts'
import { timeSection } from './sections/time.ts'
import { valueSection } from './sections/value.ts'
import { walletsSection } from './sections/wallets.ts'
import { yearsSection } from './sections/years.ts'

/** The page of an export with a ledger: the activity of its wallets. */
export function ledgerPageModel(stats: LedgerStats, title: string): PageModel {
  const { aggregates, manifest, rows } = stats
  return {
    title,
    chain: manifest.job.chain,
    rows: rows.included,
    summary: `${formatCount(aggregates.transactions, 'transaction')}, ${formatCount(aggregates.movements, 'movement')}`,
    limits: ledgerLimits(stats),
    renderSections: (at) => [
      summarySection(stats, title),
      timeSection(stats),
      valueSection(stats),
      yearsSection(stats),
      walletsSection(stats),
      balancesSection(stats),
      compareSection(stats, at),
      assetsSection(stats),
      counterpartiesSection(stats),
      nftsSection(stats),
      feesSection(stats),
      dataCollectionSection(stats),
      rowsSection(stats, at),
    ],
    renderData: (at) =>
      `<script type="application/octet-stream" id="rows-${at}">${rows.packed}</script>\n` +
      `<script type="application/json" id="compare-${at}">${escapeJsonForHtml(comparisonData(stats))}</script>\n`,
  }
}

/** JSON for a script element. `<` is escaped, so that untrusted text cannot close the element. */
const escapeJsonForHtml = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
