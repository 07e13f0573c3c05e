import { timeHeatMap } from '../heat-map.ts'
import { formatCount, type Html, html } from '../html.ts'
import type { WalletAggregates } from '../ledger-aggregates.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import {
  type Cell,
  countCell,
  MAX_TABLE_ROWS,
  moreSummary,
  tableDetails,
  tableHtml,
  textCell,
} from '../tables.ts'
import { listBuckets, type NamedBucket, walletHtml, walletText } from '../view.ts'

/** Maximum number of wallets in one heat map, and in the two of a page together. */
const MAX_ROWS = 40
const MAX_ALL_ROWS = 240
/** Maximum number of periods: adjacent buckets share one if there are more. */
const MAX_PERIODS = 120

/** Movements by wallet and time, for wallets in the order of the table. */
export function walletHeatMap(stats: LedgerStats, wallets: readonly WalletAggregates[]): Html {
  const periods = periodsOf(listBuckets(stats))
  if (wallets.length === 0 || periods.length < 2) return html``
  const mapOf = (some: readonly WalletAggregates[]) =>
    timeHeatMap(
      some.map((wallet) => ({ name: walletText(stats, wallet.address), counts: countsOf(wallet, periods) })),
      periods,
      `Movements of ${formatCount(some.length, 'wallet')} over time`,
    )
  const others = wallets.slice(MAX_ROWS, MAX_ALL_ROWS)
  const shown = Math.min(wallets.length, MAX_ALL_ROWS)
  return html`<h3>Wallet activity over time</h3>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${mapOf(wallets.slice(0, MAX_ROWS))}</div>
${others.length === 0 ? '' : html`<details>${moreSummary({ shown: MAX_ROWS, count: wallets.length, more: others.length, noun: 'wallet' })}<div class="picture" tabindex="0" role="group" aria-label="Chart of more wallets">${mapOf(others)}</div></details>`}
<p class="note">The stronger the colour of a cell, the more movements. Times are UTC.${shown < wallets.length ? ` Not drawn: ${formatCount(wallets.length - shown, 'wallet')} with fewer movements.` : ''}</p>
${tableDetails(activityTable(stats, wallets, periods))}`
}

type Period = NamedBucket & { buckets: readonly number[] }

function periodsOf(buckets: readonly NamedBucket[]): Period[] {
  const size = Math.ceil(buckets.length / MAX_PERIODS)
  const count = size === 0 ? 0 : Math.ceil(buckets.length / size)
  return Array.from({ length: count }, (_, at) => {
    const some = buckets.slice(at * size, (at + 1) * size)
    const [first, last] = [some[0] as NamedBucket, some.at(-1) as NamedBucket]
    return { ...first, to: last.to, buckets: some.map(({ from }) => from) }
  })
}

const countsOf = ({ series }: WalletAggregates, periods: readonly Period[]): number[] =>
  periods.map(({ buckets }) => buckets.reduce((sum, bucket) => sum + (series.get(bucket) ?? 0), 0))

/** A line per wallet and period with movements. */
function activityTable(
  stats: LedgerStats,
  wallets: readonly WalletAggregates[],
  periods: readonly Period[],
): Html {
  const rows: Cell[][] = []
  let count = 0
  for (const wallet of wallets)
    for (const [at, movements] of countsOf(wallet, periods).entries()) {
      if (movements === 0) continue
      count += 1
      if (rows.length === MAX_TABLE_ROWS) continue
      const name = { html: walletHtml(stats, wallet.address), sort: walletText(stats, wallet.address) }
      rows.push([name, textCell(periods[at]?.name ?? ''), countCell(movements)])
    }
  const headers = ['wallet', 'from', 'movements']
  return tableHtml('Movements by wallet and period', { headers, rows }, { noun: 'line', count })
}
