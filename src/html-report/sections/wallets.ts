import { COIN_DECIMALS } from '../../core/model/asset.ts'
import type { Coverage } from '../../core/model/manifest.ts'
import type { BlockRange } from '../../core/model/model.ts'
import { coverageBar, heatMap, sparkline } from '../charts.ts'
import { rangeOfJob } from '../data-collection.ts'
import {
  addressHtml,
  amountCell,
  type Cell,
  countCell,
  formatCount,
  formatUtcMinute,
  type Html,
  html,
  tableDetails,
  tableHtml,
  textCell,
} from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { coinOf, formatBucketTime, listBuckets, walletHtml, walletText } from '../view.ts'
import { fiatValueColumns, fiatValueNote } from './fiat-value.ts'

/** Wallets listed on a page: those with the most movements. */
const MAX_WALLETS = 200
/** Maximum number of wallets and of columns in the heat map. */
const MAX_ROWS = 40
const MAX_COLUMNS = 60

/** The wallets: their activity, and which part of the block range was read. */
export function walletsSection(stats: LedgerStats): Html {
  const { manifest, aggregates } = stats
  const movements = (address: string) => aggregates.wallets.get(address)?.movements ?? 0
  const sorted = [...manifest.coverage].sort(
    (a, b) => movements(b.address) - movements(a.address) || (a.address < b.address ? -1 : 1),
  )
  const shown = sorted.slice(0, MAX_WALLETS)
  const coin = coinOf(stats)
  const fiatValues = fiatValueColumns(stats, {
    'closing value': ({ wallets }) => wallets,
    'value of fees when paid': ({ fees }) => fees.wallets,
  })
  const headers = [
    ...['wallet', 'address', 'activity', 'transactions', 'movements', `${coin} in`, `${coin} out`, 'fees'],
    ...fiatValues.headers,
    'assets',
    ...['first seen', 'last active', 'first funded by', 'blocks read'],
  ]
  const shared = {
    fiatValueCells: fiatValues.cellsOf,
    buckets: listBuckets(stats),
    range: rangeOfJob(manifest),
  }
  const rows = shown.map((coverage) => walletRow(stats, coverage, shared))
  return html`<section id="wallets"><h2>Wallets</h2>
${tableHtml('Activity by wallet', headers, rows)}
${fiatValueNote(stats)}
${sorted.length > shown.length ? html`<p class="note">Not listed: ${formatCount(sorted.length - shown.length, 'wallet')} with fewer movements.</p>` : ''}
${activityHeatMap(
  stats,
  shown.filter(({ address }) => aggregates.wallets.has(address)),
)}
</section>`
}

/** What the rows of all wallets share. */
type SharedColumns = {
  fiatValueCells: (wallet: string) => Cell[]
  buckets: ReturnType<typeof listBuckets>
  range: BlockRange
}

function walletRow(
  stats: LedgerStats,
  { address, fromBlock, toBlock }: Coverage,
  { fiatValueCells, buckets, range }: SharedColumns,
): Cell[] {
  const wallet = stats.aggregates.wallets.get(address)
  const counts = buckets.map(({ bucket }) => wallet?.series.get(bucket) ?? 0)
  const read = { html: coverageBar(range, { from: fromBlock, to: toBlock }), sort: toBlock }
  const name = { html: walletHtml(stats, address), sort: walletText(stats, address) }
  const short = { html: addressHtml(address), sort: address }
  if (wallet === undefined)
    return [
      ...[
        name,
        short,
        textCell('no movements'),
        ...emptyCells(5),
        ...fiatValueCells(address),
        ...emptyCells(4),
      ],
      read,
    ]
  return [
    ...[
      name,
      short,
      { html: sparkline(counts, `activity of ${walletText(stats, address)}`), sort: wallet.movements },
    ],
    ...[countCell(wallet.transactions), countCell(wallet.movements)],
    ...[
      amountCell(wallet.coinIn, COIN_DECIMALS),
      amountCell(wallet.coinOut, COIN_DECIMALS),
      amountCell(wallet.fees, COIN_DECIMALS),
    ],
    ...fiatValueCells(address),
    countCell(wallet.assets.size),
    ...[textCell(formatUtcMinute(wallet.first)), textCell(formatUtcMinute(wallet.last))],
    wallet.funder === null ? textCell('–') : { html: walletHtml(stats, wallet.funder), sort: wallet.funder },
    read,
  ]
}

const emptyCells = (count: number): Cell[] => Array.from({ length: count }, () => textCell('–'))

/**
 * Movements by wallet and time. Buckets without movements are left out; adjacent ones share a column if there are too
 * many.
 */
function activityHeatMap(stats: LedgerStats, wallets: readonly Coverage[]): Html {
  const { aggregates } = stats
  const activeBuckets = listBuckets(stats).filter(({ bucket }) => aggregates.timeline.has(bucket))
  const factor = Math.ceil(activeBuckets.length / MAX_COLUMNS)
  const columns = activeBuckets.filter((_, at) => at % factor === 0)
  if (wallets.length === 0 || columns.length < 2) return html``
  const rows = wallets.slice(0, MAX_ROWS).map(({ address }) => ({
    name: walletText(stats, address),
    counts: columns.map((_, at) =>
      activeBuckets
        .slice(at * factor, (at + 1) * factor)
        .reduce((sum, { bucket }) => sum + (aggregates.wallets.get(address)?.series.get(bucket) ?? 0), 0),
    ),
  }))
  const names = columns.map(({ name }) => name)
  const end = formatBucketTime(
    ((activeBuckets.at(-1)?.bucket ?? 0) + 1) * aggregates.buckets.sizeMs,
    aggregates.buckets.sizeMs,
  )
  const description = `Movements of ${formatCount(rows.length, 'wallet')} over time, by the start of each period`
  const cells = rows.map(({ name, counts }) => [textCell(name), ...counts.map(countCell)])
  return html`<h3>Wallet activity over time</h3>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${heatMap(rows, names, description)}</div>
<p class="note">From ${names[0]} to ${end} UTC, left to right; periods without movements are left out.</p>
${tableDetails(tableHtml(description, ['wallet', ...names], cells))}`
}
