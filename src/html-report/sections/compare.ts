import { balanceKey } from '../fiat-values.ts'
import { type Html, html } from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import type { Compared } from '../page-data.ts'
import { followedBalances } from '../tracked-assets.ts'
import { walletText } from '../view.ts'

/** Wallets of an asset that can be compared, those that moved it most. */
const MOST_WALLETS = 100

/** Balances at two times, side by side: the page's script fills it in. */
export function compareSection(figures: Figures, at: number): Html {
  if (figures.tally.balances.size === 0) return html``
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
export function comparedOf(figures: Figures): Compared {
  const { dayEnds } = figures.tally
  const days = dayEnds.days()
  const last = days.length - 1
  const places = new Map(days.map((day, at) => [day, at]))
  const pointsOf = (key: string, before: bigint) =>
    [...(dayEnds.series.get(key) ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([day, sum]) => [places.get(day) ?? last, String(before + sum)])
  return {
    days,
    assets: followedBalances(figures).map(({ key, name, decimals, wallets }) => ({
      ...{ name, decimals },
      wallets: wallets.slice(0, MOST_WALLETS).map(({ wallet, before }) => ({
        name: walletText(figures, wallet),
        before: String(before),
        points: pointsOf(balanceKey(wallet, key), before),
      })),
    })),
  }
}
