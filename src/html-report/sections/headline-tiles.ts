import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { reconciliationRemarks } from '../../terminal/reconciliation-lines.ts'
import { amountHtml, fiatHtml, formatCount, groupDigits, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { coinOf, withoutSuspicious } from '../view.ts'
import type { Tile } from './tiles.ts'

/** Year ends that the tile names in addition to the newest one. The section of years has all. */
const MAX_EARLIER_YEARS = 3

/** What is held now, what came and went, and whether the figures can be relied on. */
export function headlineTiles(stats: LedgerStats): Tile[] {
  return [
    heldTile(stats),
    ...flowTiles(stats),
    ...yearTile(stats),
    reconciliationTile(stats),
    ...activityTiles(stats),
  ]
}

function heldTile(stats: LedgerStats): Tile {
  const { balances, fiatValues } = stats
  const native = balances.balances.filter(({ asset_type }) => asset_type === 'native')
  const held = native.reduce((sum, { value }) => sum + value, 0n)
  const coins = amountHtml(held, COIN_DECIMALS)
  const coin = coinOf(stats)
  if (fiatValues === undefined)
    return [
      ...([coins, `${coin} held now`] as const),
      held < 0n
        ? html`below zero: what the wallets held before the first row is missing`
        : html`in ${formatCount(native.filter(({ value }) => value > 0n).length, 'wallet')}`,
    ]
  const { total, currency, heldAssets, unpricedAssets } = fiatValues
  return [
    fiatHtml(total),
    `${currency} held now`,
    html`${groupDigits(heldAssets.size - unpricedAssets.size)} of ${formatCount(heldAssets.size, 'asset')} with a price${withoutSuspicious(stats)}; ${coins} ${coin}`,
  ]
}

function flowTiles(stats: LedgerStats): Tile[] {
  const { aggregates, fees, fiatValues } = stats
  const coin = coinOf(stats)
  const amount = (value: bigint) => amountHtml(value, COIN_DECIMALS)
  const { coinIn, coinInOwn, coinOut, coinOutOwn, fees: paid } = aggregates.coins
  const ownHtml = (own: bigint) => html`${amount(own)} of it between own wallets`
  const cost = fiatValues?.fees.total
  const value = cost == null ? '' : html`${fiatHtml(cost)} ${fiatValues?.currency} when paid; `
  const failed = fees && html`${amount(fees.failedFees)} of it for failed transactions`
  return [
    [amount(coinIn), `${coin} received`, ownHtml(coinInOwn)],
    [amount(coinOut), `${coin} sent`, ownHtml(coinOutOwn)],
    [amount(paid), `${coin} in fees`, html`${value}${failed}`],
  ]
}

/** The values at the ends of years, with prices. */
function yearTile(stats: LedgerStats): Tile[] {
  const { years, fiatValues } = stats
  if (fiatValues === undefined) return []
  const [newest, ...earlier] = years.filter(({ closing }) => closing !== null).reverse()
  const { currency } = fiatValues
  if (newest === undefined)
    return [
      [html`–`, `${currency} at year ends`, html`the price file has no prices of the last days of a year`],
    ]
  const more = earlier
    .slice(0, MAX_EARLIER_YEARS)
    .map(({ year, closing }) => html`; ${year}: ${fiatHtml(closing)}`)
  const remark = html`at the prices of its last day${withoutSuspicious(stats)}${more}`
  return [[fiatHtml(newest.closing), `${currency} at the end of ${newest.year}`, remark]]
}

function reconciliationTile({ data: { reconciliation } }: LedgerStats): Tile {
  const name = 'wallets reconciled'
  if (reconciliation == null)
    return [html`not yet`, 'reconciled', html`walletlake reconcile compares the balances with the service`]
  const { wallets, block, isCurrent } = reconciliation
  const remarks = [
    `at block ${groupDigits(block)}, in the native coin`,
    ...reconciliationRemarks(reconciliation),
  ]
  const isGood = isCurrent && wallets.nativeReconciled === wallets.selected
  const figure = `${isGood ? '✓' : '!'} ${groupDigits(wallets.nativeReconciled)} of ${groupDigits(wallets.selected)}`
  return [html`<span class="${isGood ? 'good' : 'bad'}">${figure}</span>`, name, html`${remarks.join('; ')}`]
}

function activityTiles(stats: LedgerStats): Tile[] {
  const { aggregates, manifest } = stats
  return [
    [html`${groupDigits(aggregates.transactions)}`, 'transactions', html`${transactionText(stats)}`],
    [
      html`${groupDigits(aggregates.wallets.size)} of ${groupDigits(manifest.coverage.length)}`,
      'wallets active',
      html`on ${formatCount(aggregates.days.active, 'day')}, ${groupDigits(aggregates.days.longest)} in a row`,
    ],
  ]
}

/** Explains why the export has more transactions than the ledger, and how many failed. */
function transactionText({ manifest, aggregates, fees }: LedgerStats): string {
  const all = manifest.tables.transactions?.rows ?? aggregates.transactions
  const others = all - aggregates.transactions
  const listed =
    others > 0
      ? `that moved assets of these wallets; the export lists ${groupDigits(all)}, of which ${groupDigits(others)} moved none`
      : ''
  const failed = fees === undefined ? '' : `${groupDigits(fees.failed)} sent by these wallets failed`
  return [listed, failed].filter((text) => text !== '').join('; ')
}
