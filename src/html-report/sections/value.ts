import { DAY_MS } from '../../core/model/utc.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { exactFiatValue, FIAT_DECIMALS } from '../../ledger/prices/fiat-value.ts'
import { pricedAssetOf } from '../../ledger/prices/priced-asset.ts'
import type { Prices } from '../../ledger/prices/prices.ts'
import { type Point, stepLine } from '../charts.ts'
import { type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { fiatValueCell, MAX_TABLE_ROWS, tableDetails, tableHtml, textCell } from '../tables.ts'
import { balancesAtDays, type TrackedAsset, trackedBalances } from '../tracked-assets.ts'

/** The value of the tracked assets of all wallets over time; nothing without prices. */
export function valueSection(stats: LedgerStats): Html {
  const { prices } = stats
  if (prices === undefined) return html``
  const days = stats.aggregates.dayEnds.days()
  if (days.length === 0) return html``
  const assets = trackedBalances(stats)
  const columns = assets.map((asset) => valuesOf(asset, { days, stats, prices }))
  const values = days.map((_, at) => sumOrNull(columns.map((column) => column[at] ?? null)))
  const points = days.map((day, at): Point => [Date.parse(day) + DAY_MS, numberOf(values[at] ?? null)])
  const description = `Value in ${prices.currency} at the ends of days`
  const rows = days.map((day, at) => [textCell(day), fiatValueCell(values[at])]).slice(-MAX_TABLE_ROWS)
  const headers = ['end of day', `value, ${prices.currency}`]
  return html`<section id="value"><h2>Value over time</h2>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${stepLine(points, { description, isWide: true })}</div>
<p class="note">Balances of all wallets, in ${prices.currency}, of the native coin and of the tokens under <a href="#balances">balances over time</a>, at your prices at the end of each day (UTC). The line is interrupted where an asset that is held has no price.</p>
${tableDetails(tableHtml(description, { headers, rows }, { noun: 'day', count: days.length }))}
</section>`
}

type ValueContext = { days: readonly string[]; stats: LedgerStats; prices: Prices }

/** The value of all wallets' balances of an asset at the end of each day; null without a price. */
function valuesOf(asset: TrackedAsset, { days, stats, prices }: ValueContext): (bigint | null)[] {
  const { key, decimals } = asset
  const priced = pricedAssetOf(key)
  const balances = balancesAtDays(stats, asset)
  return days.map((day, at) => {
    const balance = balances[at] ?? 0n
    if (balance === 0n) return 0n
    const price = prices.at(priced, `${day}T23:59:59.999Z`)
    return price === undefined || decimals === null ? null : exactFiatValue(balance, decimals, price)
  })
}

const sumOrNull = (values: readonly (bigint | null)[]): bigint | null =>
  values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0n)

const numberOf = (value: bigint | null): number | null =>
  value === null ? null : Number(shiftDecimal(String(value), FIAT_DECIMALS))
