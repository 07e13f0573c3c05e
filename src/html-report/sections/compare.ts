import { balanceKey } from '../fiat-values.ts'
import { formatCount, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import type { ComparisonData } from '../page-data.ts'
import { balancesAtDays, type TrackedAsset, trackedBalances } from '../tracked-assets.ts'
import { walletText } from '../view.ts'

/** Wallets per asset with a line of their own: those with the most activity. The others share one. */
const MAX_WALLETS = 100

/** Balances at two dates, side by side. The page's script fills the table. */
export function compareSection(stats: LedgerStats, at: number): Html {
  if (stats.aggregates.balances.size === 0) return html``
  return html`<section class="compare" id="compare" data-compare="compare-${at}"><h2>Compare two dates</h2>
<noscript><p>The comparison requires JavaScript.</p></noscript>
<p class="note">Exact balances after the last transaction of a day (UTC).</p>
<div class="tools"><label>Asset <select data-pick="asset"></select></label>
<label>From the end of day <select data-pick="from"></select></label>
<label>to the end of day <select data-pick="to"></select></label></div>
<div class="scroll" tabindex="0" role="region" aria-label="Compare two dates"><table><caption>Balances at two dates</caption>
<thead><tr><th scope="col">wallet</th><th scope="col" class="number">from</th><th scope="col" class="number">to</th><th scope="col" class="number">change</th></tr></thead><tbody></tbody><tfoot></tfoot></table></div>
</section>`
}

/** The exact balances for the comparison. */
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
      name,
      decimals,
      wallets: [
        ...wallets.slice(0, MAX_WALLETS).map(({ wallet, openingBalance }) => ({
          name: walletText(stats, wallet),
          openingBalance: String(openingBalance),
          points: pointsOf(balanceKey(wallet, key), openingBalance),
        })),
        ...otherWallets(stats, { key, wallets: wallets.slice(MAX_WALLETS) }),
      ],
    })),
  }
}

/** The wallets without a line of their own, together. */
function otherWallets(
  stats: LedgerStats,
  asset: Pick<TrackedAsset, 'key' | 'wallets'>,
): ComparisonData['assets'][number]['wallets'] {
  const count = asset.wallets.length
  if (count === 0) return []
  const points = balancesAtDays(stats, asset).flatMap((balance, day) => [day, String(balance)])
  return [{ name: formatCount(count, 'other wallet'), openingBalance: '0', points }]
}
