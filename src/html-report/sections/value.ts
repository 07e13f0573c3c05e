import { DAY_MS } from '../../core/model/utc.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { exactFiatValue, FIAT_DECIMALS, type Prices, pricedAssetOf } from '../../ledger/prices/prices.ts'
import { type Point, stepLine } from '../charts.ts'
import { formatCount, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { fiatValueCell, MAX_TABLE_ROWS, tableDetails, tableHtml, textCell } from '../tables.ts'
import { balancesAtDays, type TrackedAsset, trackedBalances } from '../tracked-assets.ts'
import { withoutSuspicious } from '../view.ts'
import { assetNames } from './fiat-value.ts'

/** The value over time of all wallets' tracked assets that have prices; nothing without a price file. */
export function valueSection(stats: LedgerStats): Html {
  const { prices } = stats
  const days = stats.aggregates.dayEnds.days()
  if (prices === undefined || days.length === 0) return html``
  const tracked = trackedBalances(stats)
  const counted = tracked.filter(({ key }) => !stats.suspicious.has(key))
  const assets = counted.map((asset) => ({
    key: asset.key,
    values: valuesOf(asset, { days, stats, prices }),
  }))
  const { drawn, omitted } = comparableAssets(assets)
  const values = days.map((_, at) => sumOrNull(drawn.map((asset) => asset.values[at] ?? null)))
  const points = days.map((day, at): Point => [Date.parse(day) + DAY_MS, numberOf(values[at] ?? null)])
  const description = `Value in ${prices.currency} at the ends of days`
  const rows = days.map((day, at) => [textCell(day), fiatValueCell(values[at])]).slice(-MAX_TABLE_ROWS)
  const headers = ['end of day', `value, ${prices.currency}`]
  const chart = html`<div class="picture" tabindex="0" role="group" aria-label="Chart">${stepLine(points, { description, isWide: true })}</div>
<p class="note">Balances of all wallets, in ${prices.currency}, of the native coin and of the tokens under <a href="#balances">balances over time</a>, at your prices at the end of each day (UTC)${counted.length < tracked.length ? withoutSuspicious(stats) : ''}${omittedNote(stats, omitted)}. The line is interrupted on days without prices.</p>
${tableDetails(tableHtml(description, { headers, rows }, { noun: 'day', count: days.length }))}`
  const isEmpty = drawn.length === 0
  return html`<section id="value"><h2>Value over time</h2>
${isEmpty ? html`<p>The price file has no price of ${formatCount(omitted.length, 'asset')} at the end of a day:${assetNames(stats, omitted)}.</p>` : chart}
</section>`
}

type AssetValues = { key: string; values: readonly (bigint | null)[] }

/**
 * Divides the assets so that the values of one day can be compared with those of another. The asset with a price on the
 * most days determines the days that count; assets without a price on one of these days on which they are held are omitted.
 */
function comparableAssets(assets: readonly AssetValues[]): { drawn: AssetValues[]; omitted: string[] } {
  const pricedDays = ({ values }: AssetValues) => values.filter((value) => value).length
  const [best] = [...assets].sort((a, b) => pricedDays(b) - pricedDays(a))
  if (best === undefined || pricedDays(best) === 0) {
    const held = assets.filter(({ values }) => values.some((value) => value !== 0n))
    return { drawn: held.length === 0 ? [...assets] : [], omitted: held.map(({ key }) => key) }
  }
  const isDrawn = ({ values }: AssetValues) =>
    best.values.every((value, day) => value === null || values[day] !== null)
  return {
    drawn: assets.filter(isDrawn),
    omitted: assets.filter((asset) => !isDrawn(asset)).map(({ key }) => key),
  }
}

const omittedNote = (stats: LedgerStats, omitted: readonly string[]): Html =>
  omitted.length === 0
    ? html``
    : html`, without ${formatCount(omitted.length, 'asset')} that ${omitted.length === 1 ? 'has' : 'have'} no price on some or all of these days:${assetNames(stats, omitted)}`

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
