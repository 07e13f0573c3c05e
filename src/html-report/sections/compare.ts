import { balanceKey } from '../fiat-values.ts'
import { type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import type { ComparisonData } from '../page-data.ts'
import { trackedBalances } from '../tracked-assets.ts'
import { walletText } from '../view.ts'

/** Wallets of an asset that can be compared, those that moved it most. */
const MAX_WALLETS = 100

/** Balances at two times, side by side: the page's script fills it in. */
export function compareSection(stats: LedgerStats, at: number): Html {
  if (stats.aggregates.balances.size === 0) return html``
  return html`<section class="compare" data-compare="compare-${at}"><h2>Two dates compared</h2>
<noscript><p>The comparison needs the page's own script.</p></noscript>
<p class="note">Balances after the last transaction of a day (UTC), exact.</p>
<div class="tools"><label>Asset <select data-pick="asset"></select></label>
<label>From the end of day <select data-pick="from"></select></label>
<label>to the end of day <select data-pick="to"></select></label></div>
<div class="scroll" tabindex="0" role="region" aria-label="Two dates compared"><table><caption>Balances then and later</caption>
<thead><tr><th scope="col">wallet</th><th scope="col" class="number">then</th><th scope="col" class="number">later</th><th scope="col" class="number">change</th></tr></thead><tbody></tbody></table></div>
</section>`
}

/** The values that it compares, exact. */
export function comparisonData(stats: LedgerStats): ComparisonData {
  const { dayEnds } = stats.aggregates
  const days = dayEnds.days()
  const last = days.length - 1
  const dayIndexes = new Map(days.map((day, at) => [day, at]))
  const pointsOf = (key: string, openingBalance: bigint) =>
    [...(dayEnds.series.get(key) ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([day, sum]) => [dayIndexes.get(day) ?? last, String(openingBalance + sum)])
  return {
    days,
    assets: trackedBalances(stats).map(({ key, name, decimals, wallets }) => ({
      ...{ name, decimals },
      wallets: wallets.slice(0, MAX_WALLETS).map(({ wallet, openingBalance }) => ({
        name: walletText(stats, wallet),
        openingBalance: String(openingBalance),
        points: pointsOf(balanceKey(wallet, key), openingBalance),
      })),
    })),
  }
}
