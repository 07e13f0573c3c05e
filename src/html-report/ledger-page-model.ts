import { counted } from './html.ts'
import type { Figures } from './ledger-stats.ts'
import type { Article } from './page-model.ts'
import { assetsSection } from './sections/assets.ts'
import { balancesSection } from './sections/balances.ts'
import { comparedOf, compareSection } from './sections/compare.ts'
import { partiesSection } from './sections/counterparties.ts'
import { feesSection, readingSection } from './sections/data-collection.ts'
import { ledgerLimits } from './sections/limits.ts'
import { nftsSection } from './sections/nfts.ts'
import { rowsSection } from './sections/rows.ts'
import { headSection } from './sections/summary.ts'
import { timeSection } from './sections/time.ts'
import { walletsSection } from './sections/wallets.ts'

/** An export with a ledger: what its wallets did. */
export function ledgerArticle(figures: Figures, title: string): Article {
  const { tally, manifest, rows } = figures
  return {
    ...{ title, chain: manifest.job.chain, rows: rows.held },
    told: `${counted(tally.transactions, 'transaction')}, ${counted(tally.movements, 'movement')}`,
    limits: ledgerLimits(figures),
    sectionsAt: (at) => [
      ...[
        headSection(figures, title),
        timeSection(figures),
        walletsSection(figures),
        balancesSection(figures),
      ],
      compareSection(figures, at),
      ...[assetsSection(figures), partiesSection(figures), nftsSection(figures), feesSection(figures)],
      ...[readingSection(figures), rowsSection(figures, at)],
    ],
    dataAt: (at) =>
      `<script type="application/octet-stream" id="rows-${at}">${rows.packed}</script>\n` +
      `<script type="application/json" id="compare-${at}">${jsonInHtml(comparedOf(figures))}</script>\n`,
  }
}

/** JSON that ends no script, whatever strangers wrote. */
const jsonInHtml = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
