import { shiftDecimal } from '../../core/platform/decimal.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import { type Point, stepLine } from '../charts.ts'
import { balanceKey } from '../fiat-values.ts'
import { amountHtml, formatCount, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { amountCell, fiatValueCell, MAX_TABLE_ROWS, moreSummary, tableDetails, tableHtml } from '../tables.ts'
import { type TrackedAsset, type TrackedAssetBalance, trackedBalances } from '../tracked-assets.ts'
import { assetHtml, walletHtml, walletText } from '../view.ts'
import { fiatValueColumns } from './fiat-value.ts'

/** Charts of an asset that are shown at once, and in all: those of the wallets with the most activity. */
const MAX_CHARTS = 24
const MAX_ALL_CHARTS = 200

/** Balances over time of the native coin and of the tokens with the most movements. Each chart has its own scale. */
export function balancesSection(stats: LedgerStats): Html {
  const assets = trackedBalances(stats)
  if (assets.length === 0 || stats.aggregates.timeline.size === 0) return html``
  return html`<section id="balances"><h2>Balances over time</h2>
<p class="note">Each chart has its own scale. Without opening balances, a balance starts at zero before the first row of the export: assets that a wallet already held are not included, so a balance can become negative (the dashed line is zero).</p>
${assets.map((asset, at) => assetOf(stats, asset, at === 0))}
</section>`
}

function assetOf(stats: LedgerStats, asset: TrackedAsset, isOpen: boolean): Html {
  const { wallets, decimals, name } = asset
  const heading =
    asset.aggregates === undefined || asset.key === 'native' ? name : assetHtml(stats, asset.aggregates)
  const charts = wallets.slice(0, MAX_ALL_CHARTS).map((one) => chartOf(stats, one, decimals))
  const values = fiatValueColumns(stats, { value: ({ balances }) => balances })
  const rows = wallets
    .slice(0, MAX_TABLE_ROWS)
    .map(({ wallet, closingBalance }) => [
      { html: walletHtml(stats, wallet), sort: walletText(stats, wallet) },
      amountCell(closingBalance, decimals),
      ...values.cellsOf(balanceKey(wallet, asset.key)),
    ])
  const headers = ['wallet', 'balance', ...values.headers]
  const total = wallets.reduce((sum, { closingBalance }) => sum + closingBalance, 0n)
  const totals = [
    amountCell(total, decimals),
    ...(stats.fiatValues === undefined ? [] : [fiatValueCell(stats.fiatValues.assets.get(asset.key))]),
  ]
  const options = { noun: 'wallet', count: wallets.length, totals }
  return html`<details${isOpen ? html` open` : ''}><summary>${heading}, ${formatCount(wallets.length, 'wallet')}</summary>
<ul class="multiples">${charts.slice(0, MAX_CHARTS)}</ul>
${moreCharts(charts.slice(MAX_CHARTS), wallets.length)}
${tableDetails(tableHtml(`Balances at the end: ${name}`, { headers, rows }, options))}</details>`
}

function moreCharts(charts: readonly Html[], wallets: number): Html {
  if (charts.length === 0) return html``
  const omitted = wallets - MAX_CHARTS - charts.length
  return html`<details>${moreSummary({ shown: MAX_CHARTS, count: wallets, more: charts.length, noun: 'wallet' })}<ul class="multiples">${charts}</ul>${omitted === 0 ? '' : html`<p class="note">Not drawn: ${formatCount(omitted, 'wallet')} with less activity. The table lists them.</p>`}</details>`
}

function chartOf(stats: LedgerStats, one: TrackedAssetBalance, decimals: number | null): Html {
  const line = stepLine(pointsOf(stats, one, decimals), {
    description: `balance of ${walletText(stats, one.wallet)}`,
  })
  return html`<li><h3>${walletHtml(stats, one.wallet)}</h3>${line}
<p>${amountHtml(one.closingBalance, decimals)}${one.wasNegative ? html` <small>was below zero at some point</small>` : ''}</p></li>`
}

/** Points for drawing only: values beyond ±10^300 are clamped so that they fit into a double. */
function pointsOf(
  { aggregates }: LedgerStats,
  { series, openingBalance }: TrackedAssetBalance,
  decimals: number | null,
): Point[] {
  const { buckets, timeline } = aggregates
  const [first, last] = [smallest(timeline.keys()), largest(timeline.keys())]
  const numberOf = (value: bigint) => clamp(Number(shiftDecimal(String(value), decimals) ?? String(value)))
  const changes = [...series].sort(([a], [b]) => a - b)
  // A balance is known at the end of a bucket.
  const points = changes.map(
    ([bucket, value]): Point => [buckets.endOf(bucket), numberOf(openingBalance + value)],
  )
  const closing = points.at(-1)?.[1] ?? numberOf(openingBalance)
  return [[first, numberOf(openingBalance)], ...points, [buckets.endOf(last), closing]]
}

const clamp = (value: number) => Math.min(1e300, Math.max(-1e300, value))
