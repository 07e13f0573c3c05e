import type { Figures } from '../figures.ts'
import { followedBalances } from '../followed.ts'
import { type Html, html } from '../html.ts'
import type { Compared } from '../packed.ts'
import { bucketsOf, walletText } from '../view.ts'

/** Wallets of an asset that can be compared, those that moved it most. */
const MOST_WALLETS = 100

/** Balances at two times, side by side: the page's script fills it in. */
export function compareSection(figures: Figures, at: number): Html {
  if (figures.tally.balances.size === 0) return html``
  return html`<section class="compare" data-compare="compare-${at}"><h2>Two dates compared</h2>
<noscript><p>The comparison needs the page's own script.</p></noscript>
<div class="tools"><label>Asset <select data-pick="asset"></select></label>
<label>From the end of <select data-pick="from"></select></label>
<label>to the end of <select data-pick="to"></select></label></div>
<div class="scroll" tabindex="0" role="region" aria-label="Two dates compared"><table><caption>Balances then and later</caption>
<thead><tr><th scope="col">wallet</th><th scope="col" class="number">then</th><th scope="col" class="number">later</th><th scope="col" class="number">change</th></tr></thead><tbody></tbody></table></div>
</section>`
}

/** The values that it compares, exact. */
export function comparedOf(figures: Figures): Compared {
  return {
    times: bucketsOf(figures)
      .filter(({ bucket }) => figures.tally.timeline.has(bucket))
      .map(({ bucket, name }) => ({ bucket, name })),
    assets: followedBalances(figures).map(({ name, decimals, wallets }) => ({
      ...{ name, decimals },
      wallets: wallets.slice(0, MOST_WALLETS).map(({ wallet, series, before }) => ({
        name: walletText(figures, wallet),
        before: String(before),
        points: [...series]
          .sort(([a], [b]) => a - b)
          .flatMap(([bucket, sum]) => [bucket, String(before + sum)]),
      })),
    })),
  }
}
