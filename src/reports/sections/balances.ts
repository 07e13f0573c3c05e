import { shiftDecimal } from '../../flatten/decimal.ts'
import type { Figures } from '../figures.ts'
import { amountCell, amountHtml, asTable, counted, type Html, html, tableHtml } from '../html.ts'
import { stepLine } from '../pictures.ts'
import type { BalanceSeries } from '../tally.ts'
import { assetHtml, coinOf, walletHtml, walletText } from '../view.ts'

/** Pictures of one asset, of the wallets that moved it most. */
const MOST_PICTURES = 24

/** What wallets had over time: the coin, and the tokens that moved most, each picture with its own scale. */
export function balancesSection(figures: Figures): Html {
  const { tally } = figures
  const assets = [...new Set([...tally.balances.values()].map(({ asset }) => asset))]
  const order = (asset: string) =>
    asset === 'native' ? Number.POSITIVE_INFINITY : (tally.assets.get(asset)?.movements ?? 0)
  const sorted = assets.sort((a, b) => order(b) - order(a) || (a < b ? -1 : 1))
  if (sorted.length === 0) return html``
  return html`<section id="balances"><h2>Balances over time</h2>
<p class="note">Each picture has its own scale. A balance counts from zero before the first row that the export has: coins that a wallet had before are not in it, so that it may fall below zero (dashed).</p>
${sorted.map((asset, at) => assetOf(figures, asset, at === 0))}
</section>`
}

function assetOf(figures: Figures, key: string, isOpen: boolean): Html {
  const { tally, balances } = figures
  const asset = tally.assets.get(key)
  const all = [...tally.balances.values()]
    .filter((one) => one.asset === key)
    .sort((a, b) => b.series.size - a.series.size || (a.wallet < b.wallet ? -1 : 1))
  const name =
    key === 'native'
      ? coinOf(figures)
      : assetHtml(figures, { address: asset?.address ?? null, symbol: asset?.symbol ?? null })
  const plainName = key === 'native' ? coinOf(figures) : `${asset?.symbol ?? ''} ${key.slice(0, 10)}`.trim()
  const exact = new Map(
    balances.balances
      .filter(({ asset_type, asset_address }) => (asset_address ?? asset_type) === key)
      .map((one) => [one.wallet_address, one.value]),
  )
  const decimals = asset?.decimals ?? null
  const endOf = ({ wallet, value }: BalanceSeries) => exact.get(wallet) ?? value
  const below = new Set(
    balances.belowZero
      .filter(({ asset_type, asset_address }) => (asset_address ?? asset_type) === key)
      .map(({ wallet_address }) => wallet_address),
  )
  const pictures = all.slice(0, MOST_PICTURES).map(
    (
      one,
    ) => html`<li><h3>${walletHtml(figures, one.wallet)}</h3>${stepLine(pointsOf(figures, { ...one, before: endOf(one) - one.value }, decimals), `balance of ${walletText(figures, one.wallet)}`)}
<p>${amountHtml(endOf(one), decimals)}${below.has(one.wallet) ? html` <small>spent more than was seen coming in</small>` : ''}</p></li>`,
  )
  const rows = all.map((one) => [
    { html: walletHtml(figures, one.wallet), sort: walletText(figures, one.wallet) },
    amountCell(endOf(one), decimals),
  ])
  return html`<details${isOpen ? html` open` : ''}><summary>${name}, ${counted(all.length, 'wallet')}</summary>
<ul class="multiples">${pictures}</ul>
${asTable(tableHtml(`Balances at the end: ${plainName}`, ['wallet', 'balance'], rows))}</details>`
}

/** `before` is what the wallet had before the first row, where the user gave it. */
type Drawn = BalanceSeries & { before: bigint }

/** For drawing alone: what is too large or too small for a double is drawn as the nearest that fits. */
function pointsOf({ tally }: Figures, { series, before }: Drawn, decimals: number | null) {
  const points = [...series].sort(([a], [b]) => a - b)
  const first = points[0]?.[0] ?? 0
  const end = Math.max(...tally.timeline.keys())
  const numberOf = (value: bigint) => clamp(Number(shiftDecimal(String(value), decimals) ?? String(value)))
  const drawn = points.map(([bucket, value]) => [bucket, numberOf(before + value)] as const)
  return [
    [first - 1, numberOf(before)] as const,
    ...drawn,
    [end, drawn.at(-1)?.[1] ?? numberOf(before)] as const,
  ]
}

const clamp = (value: number) => Math.min(1e300, Math.max(-1e300, value))
