import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { amountHtml, counted, grouped, type Html, html, minuteOf, percent } from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { coinOf, walletHtml } from '../view.ts'
import { worthWords } from './fiat-value.ts'
import { headerHtml } from './header.ts'
import { type Tile, tilesHtml } from './tiles.ts'

/** What a stranger has to know in a minute: whose, when, whether complete, and the figures that matter. */
export function headSection(figures: Figures, title: string): Html {
  const { first, last } = figures.tally
  const span = first === '' ? 'no transactions' : `${minuteOf(first)} to ${minuteOf(last)}`
  return html`${headerHtml(figures, { title, span })}
<p class="words">${wordsOf(figures)}</p>
${tilesHtml(tilesOf(figures))}`
}

function wordsOf(figures: Figures): Html {
  const { tally, balances, manifest } = figures
  const named = (address: string) => html`<b>${walletHtml(figures, address)}</b>`
  const wallets = [...tally.wallets.values()].sort((a, b) => b.movements - a.movements)
  const [busiest] = wallets
  if (busiest === undefined) return html`None of the wallets took part in any transaction in these blocks.`
  const silent = manifest.coverage.filter(({ address }) => !tally.wallets.has(address))
  const names = silent.slice(0, 5).map(({ address }, at) => html`${at === 0 ? ' ' : ', '}${named(address)}`)
  return html`${counted(tally.transactions, 'transaction')} moved assets ${grouped(tally.movements)} times, on ${counted(tally.days.active, 'day')}.
${named(busiest.address)} dominates with ${percent(busiest.movements, tally.movements)} of all movements.
The wallets paid ${amountHtml(tally.fees, COIN_DECIMALS)} ${coinOf(figures)} in fees. ${worthWords(figures)}
${silent.length === 0 ? 'Every wallet was active.' : html`${counted(silent.length, 'wallet')} showed nothing:${names}${silent.length > 5 ? ' …' : ''}.`}
${suspicionOf(balances.flagged.length, balances.belowZero.length)}`
}

function suspicionOf(flagged: number, below: number): Html {
  if (flagged === 0 && below === 0) return html`Nothing looks suspicious.`
  const tokens =
    flagged === 0
      ? ''
      : `${counted(flagged, 'token')} ${flagged === 1 ? 'is' : 'are'} probably not what ${flagged === 1 ? 'it looks' : 'they look'} like`
  const balances = below === 0 ? '' : `${counted(below, 'balance')} once fell below zero`
  return html`${[tokens, balances].filter((text) => text !== '').join('; ')}: see <a href="#assets">assets</a>.`
}

/** Why the export has more transactions than the ledger, and how many failed. */
function transactionWords({ manifest, tally, fees }: Figures): string {
  const all = manifest.tables.transactions?.rows ?? tally.transactions
  const others = all - tally.transactions
  const listed =
    others > 0
      ? `that moved assets of these wallets; the export lists ${grouped(all)}, of which ${grouped(others)} moved none`
      : ''
  const failed = fees === undefined ? '' : `${grouped(fees.failed)} sent by these wallets failed`
  return [listed, failed].filter((text) => text !== '').join('; ')
}

function tilesOf(figures: Figures): Tile[] {
  const { tally, balances, manifest, parties, fees } = figures
  return [
    [html`${grouped(tally.transactions)}`, 'transactions', html`${transactionWords(figures)}`],
    [html`${grouped(tally.movements)}`, 'movements', html`of ${counted(tally.assets.size, 'asset')}`],
    [
      html`${grouped(tally.wallets.size)} of ${grouped(manifest.coverage.length)}`,
      'wallets active',
      html`on ${counted(tally.days.active, 'day')}, ${grouped(tally.days.longest)} in a row`,
    ],
    [
      html`${amountHtml(tally.fees, COIN_DECIMALS)}`,
      `${coinOf(figures)} in fees`,
      html`${fees === undefined ? '' : html`${amountHtml(fees.lost, COIN_DECIMALS)} of it for failures`}`,
    ],
    [html`${grouped(parties.count)}`, 'counterparties', html`outside these wallets`],
    [
      html`${grouped(balances.flagged.length)} of ${grouped(tally.assets.size)}`,
      'assets flagged',
      html`${counted(balances.belowZero.length, 'balance')} below zero once`,
    ],
  ]
}
