import { COIN_DECIMALS } from '../../core/model/asset.ts'
import type { Coverage } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { coverageBar, heatMap, sparkline } from '../charts.ts'
import { rangeOfJob } from '../data-collection.ts'
import {
  addressHtml,
  amountCell,
  asTable,
  type Cell,
  countCell,
  counted,
  type Html,
  html,
  minuteOf,
  tableHtml,
  textCell,
} from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { bucketsOf, coinOf, nameOfTime, walletHtml, walletText } from '../view.ts'
import { worthColumns, worthNote } from './fiat-value.ts'

/** Wallets that a page lists, the busiest. */
const MOST_WALLETS = 200
/** Wallets and buckets that a heat map shows. */
const MOST_ROWS = 40
const MOST_COLUMNS = 60

/** Each wallet: what it did, when, and whether it was read to the end. */
export function walletsSection(figures: Figures): Html {
  const { manifest, tally } = figures
  const movements = (address: string) => tally.wallets.get(address)?.movements ?? 0
  const known = [...manifest.coverage].sort(
    (a, b) => movements(b.address) - movements(a.address) || (a.address < b.address ? -1 : 1),
  )
  const shown = known.slice(0, MOST_WALLETS)
  const coin = coinOf(figures)
  const worth = worthColumns(figures, {
    'worth at the end': ({ wallets }) => wallets,
    'fees when paid': ({ fees }) => fees.wallets,
  })
  const heads = [
    ...['wallet', 'address', 'activity', 'transactions', 'movements', `${coin} in`, `${coin} out`, 'fees'],
    ...worth.heads,
    'assets',
    ...['first seen', 'last active', 'first funded by', 'read'],
  ]
  const shared = {
    worthOf: worth.cellsOf,
    buckets: bucketsOf(figures),
    range: rangeOfJob(manifest),
  }
  const rows = shown.map((coverage) => walletRow(figures, coverage, shared))
  return html`<section id="wallets"><h2>Wallets</h2>
${tableHtml('What each wallet did', heads, rows)}
${worthNote(figures)}
${known.length > shown.length ? html`<p class="note">And ${counted(known.length - shown.length, 'wallet')} more, which did less.</p>` : ''}
${heatOf(
  figures,
  shown.filter(({ address }) => tally.wallets.has(address)),
)}
</section>`
}

/** What the rows of all wallets are drawn against. */
type Shared = {
  worthOf: (wallet: string) => Cell[]
  buckets: ReturnType<typeof bucketsOf>
  range: BlockRange
}

function walletRow(
  figures: Figures,
  { address, fromBlock, toBlock }: Coverage,
  { worthOf, buckets, range }: Shared,
): Cell[] {
  const wallet = figures.tally.wallets.get(address)
  const counts = buckets.map(({ bucket }) => wallet?.series.get(bucket) ?? 0)
  const read = { html: coverageBar(range, { from: fromBlock, to: toBlock }), sort: toBlock }
  const name = { html: walletHtml(figures, address), sort: walletText(figures, address) }
  const short = { html: addressHtml(address), sort: address }
  if (wallet === undefined)
    return [...[name, short, textCell('silent'), ...dashes(5), ...worthOf(address), ...dashes(4)], read]
  return [
    ...[
      name,
      short,
      { html: sparkline(counts, `activity of ${walletText(figures, address)}`), sort: wallet.movements },
    ],
    ...[countCell(wallet.transactions), countCell(wallet.movements)],
    ...[
      amountCell(wallet.coinIn, COIN_DECIMALS),
      amountCell(wallet.coinOut, COIN_DECIMALS),
      amountCell(wallet.fees, COIN_DECIMALS),
    ],
    ...worthOf(address),
    countCell(wallet.assets.size),
    ...[textCell(minuteOf(wallet.first)), textCell(minuteOf(wallet.last))],
    wallet.funder === null
      ? textCell('–')
      : { html: walletHtml(figures, wallet.funder), sort: wallet.funder },
    read,
  ]
}

const dashes = (count: number): Cell[] => Array.from({ length: count }, () => textCell('–'))

/** Wallet by time; buckets in which nothing happened are left out where there are few others. */
function heatOf(figures: Figures, wallets: readonly Coverage[]): Html {
  const { tally } = figures
  const busy = bucketsOf(figures).filter(({ bucket }) => tally.timeline.has(bucket))
  const factor = Math.ceil(busy.length / MOST_COLUMNS)
  const columns = busy.filter((_, at) => at % factor === 0)
  if (wallets.length === 0 || columns.length < 2) return html``
  const rows = wallets.slice(0, MOST_ROWS).map(({ address }) => ({
    name: walletText(figures, address),
    counts: columns.map((_, at) =>
      busy
        .slice(at * factor, (at + 1) * factor)
        .reduce((sum, { bucket }) => sum + (tally.wallets.get(address)?.series.get(bucket) ?? 0), 0),
    ),
  }))
  const names = columns.map(({ name }) => name)
  const end = nameOfTime(((busy.at(-1)?.bucket ?? 0) + 1) * tally.buckets.sizeMs, tally.buckets.sizeMs)
  const sentence = `Movements of ${counted(rows.length, 'wallet')} over time, by the start of each period`
  const cells = rows.map(({ name, counts }) => [textCell(name), ...counts.map(countCell)])
  return html`<h3>Who was active when</h3>
<div class="picture" tabindex="0" role="group" aria-label="Picture">${heatMap(rows, names, sentence)}</div>
<p class="note">From ${names[0]} to ${end} UTC, left to right; times in which nothing happened are left out.</p>
${asTable(tableHtml(sentence, ['wallet', ...names], cells))}`
}
