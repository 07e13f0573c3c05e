import type { Figures } from '../figures.ts'
import { type Html, html } from '../html.ts'
import { bucketsOf, coinOf, walletText } from '../view.ts'

/** What a wallet had of an asset at the end of each bucket in which it changed: bucket and exact value, in turn. */
type ComparedWallet = { name: string; before: string; points: (number | string)[] }

/** What the page's script compares dates with. */
export type Compared = {
  /** When each bucket that had rows ended, and what that is called. */
  times: { bucket: number; name: string }[]
  assets: { name: string; decimals: number | null; wallets: ComparedWallet[] }[]
}

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
  const { tally, balances } = figures
  const keys = [...new Set([...tally.balances.values()].map(({ asset }) => asset))]
  const movements = (key: string) =>
    key === 'native' ? Number.POSITIVE_INFINITY : (tally.assets.get(key)?.movements ?? 0)
  keys.sort((a, b) => movements(b) - movements(a) || (a < b ? -1 : 1))
  const ends = new Map(
    balances.balances
      .filter(({ token_id }) => token_id === null)
      .map((one) => [`${one.wallet_address} ${one.asset_address ?? 'native'}`, one.value]),
  )
  return {
    times: bucketsOf(figures)
      .filter(({ bucket }) => tally.timeline.has(bucket))
      .map(({ bucket, name }) => ({ bucket, name })),
    assets: keys.map((key) => ({
      name:
        key === 'native'
          ? coinOf(figures)
          : `${tally.assets.get(key)?.symbol ?? ''} ${key.slice(0, 10)}`.trim(),
      decimals: tally.assets.get(key)?.decimals ?? null,
      wallets: [...tally.balances.values()]
        .filter(({ asset }) => asset === key)
        .sort((a, b) => b.series.size - a.series.size || (a.wallet < b.wallet ? -1 : 1))
        .slice(0, MOST_WALLETS)
        .map(({ wallet, series, value }) => {
          const before = (ends.get(`${wallet} ${key}`) ?? value) - value
          const points = [...series].sort(([a], [b]) => a - b)
          return {
            name: walletText(figures, wallet),
            before: String(before),
            points: points.flatMap(([bucket, sum]) => [bucket, String(before + sum)]),
          }
        }),
    })),
  }
}
