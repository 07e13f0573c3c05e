import { shiftDecimal } from '../../core/platform/decimal.ts'
import { largest } from '../../core/platform/extremes.ts'
import { stepLine } from '../charts.ts'
import { balanceKey } from '../fiat-values.ts'
import { amountCell, amountHtml, asTable, counted, type Html, html, tableHtml } from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { type FollowedAsset, type FollowedBalance, followedBalances } from '../tracked-assets.ts'
import { assetHtml, walletHtml, walletText } from '../view.ts'
import { worthColumns } from './fiat-value.ts'

/** Pictures of one asset, of the wallets that moved it most. */
const MOST_PICTURES = 24

/** What wallets had over time: the coin, and the tokens that moved most, each picture with its own scale. */
export function balancesSection(figures: Figures): Html {
  const assets = followedBalances(figures)
  if (assets.length === 0) return html``
  return html`<section id="balances"><h2>Balances over time</h2>
<p class="note">Each picture has its own scale. A balance counts from zero before the first row that the export has: coins that a wallet had before are not in it, so that it may fall below zero (dashed).</p>
${assets.map((asset, at) => assetOf(figures, asset, at === 0))}
</section>`
}

function assetOf(figures: Figures, asset: FollowedAsset, isOpen: boolean): Html {
  const { wallets, decimals, name } = asset
  const shown = asset.tally === undefined || asset.key === 'native' ? name : assetHtml(figures, asset.tally)
  const pictures = wallets.slice(0, MOST_PICTURES).map((one) => pictureOf(figures, one, decimals))
  const worth = worthColumns(figures, { worth: ({ balances }) => balances })
  const rows = wallets.map(({ wallet, end }) => [
    { html: walletHtml(figures, wallet), sort: walletText(figures, wallet) },
    amountCell(end, decimals),
    ...worth.cellsOf(balanceKey(wallet, asset.key)),
  ])
  return html`<details${isOpen ? html` open` : ''}><summary>${shown}, ${counted(wallets.length, 'wallet')}</summary>
<ul class="multiples">${pictures}</ul>
${asTable(tableHtml(`Balances at the end: ${name}`, ['wallet', 'balance', ...worth.heads], rows))}</details>`
}

function pictureOf(figures: Figures, one: FollowedBalance, decimals: number | null): Html {
  const line = stepLine(pointsOf(figures, one, decimals), `balance of ${walletText(figures, one.wallet)}`)
  return html`<li><h3>${walletHtml(figures, one.wallet)}</h3>${line}
<p>${amountHtml(one.end, decimals)}${one.wasBelowZero ? html` <small>spent more than was seen coming in</small>` : ''}</p></li>`
}

/** For drawing alone: what is too large or too small for a double is drawn as the nearest that fits. */
function pointsOf({ tally }: Figures, { series, before }: FollowedBalance, decimals: number | null) {
  const points = [...series].sort(([a], [b]) => a - b)
  const first = points[0]?.[0] ?? 0
  const end = largest(tally.timeline.keys())
  const numberOf = (value: bigint) => clamp(Number(shiftDecimal(String(value), decimals) ?? String(value)))
  const drawn = points.map(([bucket, value]) => [bucket, numberOf(before + value)] as const)
  return [
    [first - 1, numberOf(before)] as const,
    ...drawn,
    [end, drawn.at(-1)?.[1] ?? numberOf(before)] as const,
  ]
}

const clamp = (value: number) => Math.min(1e300, Math.max(-1e300, value))
