import { shiftDecimal } from '../../core/platform/decimal.ts'
import { largest } from '../../core/platform/extremes.ts'
import { stepLine } from '../charts.ts'
import { balanceKey } from '../fiat-values.ts'
import { amountCell, amountHtml, formatCount, type Html, html, tableDetails, tableHtml } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { type TrackedAsset, type TrackedAssetBalance, trackedBalances } from '../tracked-assets.ts'
import { assetHtml, walletHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

/** Charts per asset: the wallets with the most activity. */
const MAX_CHARTS = 24

/** Balances over time of the native coin and of the tokens with the most movements. Each chart has its own scale. */
export function balancesSection(stats: LedgerStats): Html {
  const assets = trackedBalances(stats)
  if (assets.length === 0) return html``
  return html`<section id="balances"><h2>Balances over time</h2>
<p class="note">Each chart has its own scale. Without opening balances, a balance starts at zero before the first row of the export: assets that a wallet already held are not included, so a balance can become negative (the dashed line is zero).</p>
${assets.map((asset, at) => assetOf(stats, asset, at === 0))}
</section>`
}

function assetOf(stats: LedgerStats, asset: TrackedAsset, isOpen: boolean): Html {
  const { wallets, decimals, name } = asset
  const heading =
    asset.aggregates === undefined || asset.key === 'native' ? name : assetHtml(stats, asset.aggregates)
  const charts = wallets.slice(0, MAX_CHARTS).map((one) => chartOf(stats, one, decimals))
  const fiatValues = fiatValueColumns(stats, { value: ({ balances }) => balances })
  const rows = wallets.map(({ wallet, closingBalance }) => [
    { html: walletHtml(stats, wallet), sort: walletText(stats, wallet) },
    amountCell(closingBalance, decimals),
    ...fiatValues.cellsOf(balanceKey(wallet, asset.key)),
  ])
  return html`<details${isOpen ? html` open` : ''}><summary>${heading}, ${formatCount(wallets.length, 'wallet')}</summary>
<ul class="multiples">${charts}</ul>
${tableDetails(tableHtml(`Balances at the end: ${name}`, ['wallet', 'balance', ...fiatValues.headers], rows))}</details>`
}

function chartOf(stats: LedgerStats, one: TrackedAssetBalance, decimals: number | null): Html {
  const line = stepLine(pointsOf(stats, one, decimals), `balance of ${walletText(stats, one.wallet)}`)
  return html`<li><h3>${walletHtml(stats, one.wallet)}</h3>${line}
<p>${amountHtml(one.closingBalance, decimals)}${one.wasNegative ? html` <small>spent more than it received in this export</small>` : ''}</p></li>`
}

/** Points for drawing only: values beyond ±10^300 are clamped so that they fit into a double. */
function pointsOf(
  { aggregates }: LedgerStats,
  { series, openingBalance }: TrackedAssetBalance,
  decimals: number | null,
) {
  const points = [...series].sort(([a], [b]) => a - b)
  const first = points[0]?.[0] ?? 0
  const lastBucket = largest(aggregates.timeline.keys())
  const numberOf = (value: bigint) => clamp(Number(shiftDecimal(String(value), decimals) ?? String(value)))
  const inRange = points.map(([bucket, value]) => [bucket, numberOf(openingBalance + value)] as const)
  return [
    [first - 1, numberOf(openingBalance)] as const,
    ...inRange,
    [lastBucket, inRange.at(-1)?.[1] ?? numberOf(openingBalance)] as const,
  ]
}

const clamp = (value: number) => Math.min(1e300, Math.max(-1e300, value))
