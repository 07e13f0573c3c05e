import { matrixHeatMap } from '../heat-map.ts'
import { formatCount, type Html, html } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { countCell, EMPTY_CELL, MAX_TABLE_ROWS, tableDetails, tableHtml } from '../tables.ts'
import { walletHtml, walletText } from '../view.ts'

/** Wallets in the matrix: those with the most transfers between own wallets. */
const MAX_WALLETS = 40

/** The numbers of transfers from one own wallet to another. */
export function ownTransfers(stats: LedgerStats): Html {
  const counts = stats.aggregates.ownTransfers
  if (counts.size === 0) return html``
  const pairs = [...counts]
    .map(([key, count]) => ({ from: key.split(' ')[0] ?? '', to: key.split(' ')[1] ?? '', count }))
    .sort((a, b) => b.count - a.count || (`${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1))
  const totals = new Map<string, number>()
  for (const { from, to, count } of pairs)
    for (const wallet of [from, to]) totals.set(wallet, (totals.get(wallet) ?? 0) + count)
  const all = [...totals].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([wallet]) => wallet)
  const wallets = all.slice(0, MAX_WALLETS)
  const rows = wallets.map((from) => ({
    name: walletText(stats, from),
    counts: wallets.map((to) => counts.get(`${from} ${to}`) ?? 0),
  }))
  const names = wallets.map((wallet) => walletText(stats, wallet))
  const description = 'Transfers from the wallet of the row to the wallet of the column'
  const { own } = stats.aggregates.totals
  return html`<h3>Between own wallets</h3>
<div class="picture" tabindex="0" role="group" aria-label="Chart">${matrixHeatMap(rows, names, description)}</div>
<p class="note">${description}. The stronger the colour of a cell, the more transfers.${wallets.length < all.length ? ` ${wallets.length} of ${formatCount(all.length, 'wallet')} drawn.` : ''} A transfer counts once here. The ${formatCount(own, 'movement')} between own wallets of the <a href="#when">activity over time</a> ${own === 1 ? 'includes' : 'include'} both sides of each transfer, and what wallets sent to themselves.</p>
${tableDetails(pairsTable(stats, pairs))}`
}

type Pair = { from: string; to: string; count: number }

function pairsTable(stats: LedgerStats, pairs: readonly Pair[]): Html {
  const rows = pairs
    .slice(0, MAX_TABLE_ROWS)
    .map(({ from, to, count }) => [
      ...[from, to].map((wallet) => ({ html: walletHtml(stats, wallet), sort: walletText(stats, wallet) })),
      countCell(count),
    ])
  const total = pairs.reduce((sum, { count }) => sum + count, 0)
  const options = { noun: 'pair', count: pairs.length, totals: [EMPTY_CELL, countCell(total)] }
  return tableHtml('Transfers between own wallets', { headers: ['from', 'to', 'transfers'], rows }, options)
}
