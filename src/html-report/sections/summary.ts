import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { amountHtml, formatCount, formatUtcMinute, groupDigits, type Html, html, percent } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { coinOf, walletHtml } from '../view.ts'
import { fiatValueText } from './fiat-value.ts'
import { headerHtml } from './header.ts'
import { type Tile, tilesHtml } from './tiles.ts'

/**
 * The summary for readers who know nothing about the export: wallets, time range, completeness and the main figures.
 */
export function summarySection(stats: LedgerStats, title: string): Html {
  const { first, last } = stats.aggregates
  const timeRange = first === '' ? 'no transactions' : `${formatUtcMinute(first)} to ${formatUtcMinute(last)}`
  return html`${headerHtml(stats, { title, timeRange })}
<p class="words">${summaryHtml(stats)}</p>
${tilesHtml(tilesOf(stats))}`
}

function summaryHtml(stats: LedgerStats): Html {
  const { aggregates, balances, manifest } = stats
  const named = (address: string) => html`<b>${walletHtml(stats, address)}</b>`
  const wallets = [...aggregates.wallets.values()].sort((a, b) => b.movements - a.movements)
  const [busiest] = wallets
  if (busiest === undefined) return html`None of the wallets took part in a transaction in these blocks.`
  const inactive = manifest.coverage.filter(({ address }) => !aggregates.wallets.has(address))
  const names = inactive.slice(0, 5).map(({ address }, at) => html`${at === 0 ? ' ' : ', '}${named(address)}`)
  return html`${formatCount(aggregates.transactions, 'transaction')} moved assets ${groupDigits(aggregates.movements)} times on ${formatCount(aggregates.days.active, 'day')}.
${named(busiest.address)} accounts for ${percent(busiest.movements, aggregates.movements)} of all movements.
The wallets paid ${amountHtml(aggregates.fees, COIN_DECIMALS)} ${coinOf(stats)} in fees. ${fiatValueText(stats)}
${inactive.length === 0 ? 'Every wallet was active.' : html`${formatCount(inactive.length, 'wallet')} had no movements:${names}${inactive.length > 5 ? ' …' : ''}.`}
${suspiciousText(balances.flagged.length, balances.belowZero.length)}`
}

function suspiciousText(flagged: number, below: number): Html {
  if (flagged === 0 && below === 0) return html`No suspicious tokens or negative balances were found.`
  const tokens =
    flagged === 0 ? '' : `${formatCount(flagged, 'token')} ${flagged === 1 ? 'looks' : 'look'} suspicious`
  const balances =
    below === 0
      ? ''
      : `${formatCount(below, 'balance')} ${below === 1 ? 'was' : 'were'} negative at some point`
  return html`${[tokens, balances].filter((text) => text !== '').join('; ')}: see <a href="#assets">assets</a>.`
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

function tilesOf(stats: LedgerStats): Tile[] {
  const { aggregates, balances, manifest, counterparties, fees } = stats
  return [
    [html`${groupDigits(aggregates.transactions)}`, 'transactions', html`${transactionText(stats)}`],
    [
      html`${groupDigits(aggregates.movements)}`,
      'movements',
      html`of ${formatCount(aggregates.assets.size, 'asset')}`,
    ],
    [
      html`${groupDigits(aggregates.wallets.size)} of ${groupDigits(manifest.coverage.length)}`,
      'wallets active',
      html`on ${formatCount(aggregates.days.active, 'day')}, ${groupDigits(aggregates.days.longest)} in a row`,
    ],
    [
      html`${amountHtml(aggregates.fees, COIN_DECIMALS)}`,
      `${coinOf(stats)} in fees`,
      html`${fees === undefined ? '' : html`${amountHtml(fees.failedFees, COIN_DECIMALS)} of it for failed transactions`}`,
    ],
    [html`${groupDigits(counterparties.count)}`, 'counterparties', html`outside these wallets`],
    [
      html`${groupDigits(balances.flagged.length)} of ${groupDigits(aggregates.assets.size)}`,
      'assets flagged',
      html`${formatCount(balances.belowZero.length, 'balance')} negative at some point`,
    ],
  ]
}
