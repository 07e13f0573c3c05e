import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { amountHtml, formatCount, formatUtcMinute, groupDigits, type Html, html, percent } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { coinOf, walletHtml } from '../view.ts'
import { fiatValueText } from './fiat-value.ts'
import { headerHtml } from './header.ts'
import { headlineTiles } from './headline-tiles.ts'
import { tilesHtml } from './tiles.ts'

/**
 * The summary for readers who know nothing about the export: wallets, time range, completeness and the main figures.
 */
export function summarySection(stats: LedgerStats, title: string): Html {
  const { first, last } = stats.aggregates
  const timeRange = first === '' ? 'no transactions' : `${formatUtcMinute(first)} to ${formatUtcMinute(last)}`
  return html`${headerHtml(stats, { title, timeRange })}
<p class="words">${summaryHtml(stats)}</p>
${tilesHtml(headlineTiles(stats))}
<p class="note">≈ marks a number with fewer digits than the exact one, which is shown when you point at it.</p>`
}

function summaryHtml(stats: LedgerStats): Html {
  const { aggregates, manifest } = stats
  const named = (address: string) => html`<b>${walletHtml(stats, address)}</b>`
  const wallets = [...aggregates.wallets.values()].sort((a, b) => b.movements - a.movements)
  const [busiest] = wallets
  if (busiest === undefined) return html`None of the wallets took part in a transaction in these blocks.`
  const inactive = manifest.coverage.filter(({ address }) => !aggregates.wallets.has(address))
  const names = inactive.slice(0, 5).map(({ address }, at) => html`${at === 0 ? ' ' : ', '}${named(address)}`)
  return html`${formatCount(aggregates.transactions, 'transaction')} moved assets ${groupDigits(aggregates.movements)} times on ${formatCount(aggregates.days.active, 'day')}.
${named(busiest.address)} accounts for ${percent(busiest.movements, aggregates.movements)} of all movements.
The wallets paid ${amountHtml(aggregates.coins.fees, COIN_DECIMALS)} ${coinOf(stats)} in fees. ${fiatValueText(stats)}
${inactive.length === 0 ? 'Every wallet was active.' : html`${formatCount(inactive.length, 'wallet')} had no movements:${names}${inactive.length > 5 ? ' …' : ''}.`}
${suspiciousText(stats)}`
}

function suspiciousText({ aggregates, balances, suspicious }: LedgerStats): Html {
  const below = balances.belowZero.length
  if (suspicious.size === 0 && below === 0) return html`No suspicious tokens or negative balances were found.`
  const movements = [...aggregates.assets.values()]
    .filter(({ address }) => suspicious.has(address ?? ''))
    .reduce((sum, asset) => sum + asset.movements, 0)
  const tokens =
    suspicious.size === 0
      ? ''
      : `${formatCount(suspicious.size, 'token')} with ${formatCount(movements, 'movement')} ${suspicious.size === 1 ? 'looks' : 'look'} suspicious`
  const negative =
    below === 0
      ? ''
      : `${formatCount(below, 'balance')} ${below === 1 ? 'was' : 'were'} negative at some point`
  return html`${[tokens, negative].filter((text) => text !== '').join('; ')}: see <a href="#assets">assets</a>.`
}
