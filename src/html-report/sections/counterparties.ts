import type { Counterparty } from '../counterparties.ts'
import { type Flow, flowChart, type Party } from '../flow-chart.ts'
import { matrixHeatMap } from '../heat-map.ts'
import { addressHtml, formatCount, groupDigits, type Html, html, nameHtml, shortAddress } from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { type Cell, countCell, MAX_TABLE_ROWS, tableDetails, tableHtml, textCell } from '../tables.ts'
import { shortName, walletHtml, walletText } from '../view.ts'
import { ownTransfers } from './own-transfers.ts'

/** Counterparties shown in a chart: those with the most transfers. */
const MAX_CHARTED = 12
/** With more wallets, ribbons cannot be distinguished, and a matrix is drawn instead. */
const MAX_WALLETS_IN_FLOW_CHART = 8

/** Counterparties by number of transfers, because amounts of different assets cannot be added. */
export function counterpartiesSection(stats: LedgerStats): Html {
  const { counterparties } = stats
  if (counterparties.count === 0 && stats.aggregates.ownTransfers.size === 0) return html``
  const rows = counterparties.top.map(counterpartyRow)
  const headers = ['counterparty', 'address', 'transfers', 'received from', 'sent to', 'wallets']
  const options = { noun: 'counterparty', count: counterparties.count }
  return html`<section id="parties"><h2>Counterparties</h2>
${chartOf(stats)}
${rows.length === 0 ? '' : tableHtml('Counterparties with the most transfers', { headers, rows }, options)}
${ownTransfers(stats)}
</section>`
}

const totalOf = ({ received, sent }: { received: number; sent: number }) => received + sent

function counterpartyRow({ address, name, transfers, received, sent }: Counterparty): Cell[] {
  return [
    nameCell(name),
    { html: addressHtml(address), sort: address },
    countCell(received + sent),
    countCell(received),
    countCell(sent),
    countCell(transfers.length),
  ]
}

const nameCell = (name: string | null): Cell =>
  name === null ? textCell('–') : { html: nameHtml(name), sort: name }

function chartOf(stats: LedgerStats): Html {
  const { top, count } = stats.counterparties
  const charted = top.slice(0, MAX_CHARTED)
  const [first] = charted
  if (first === undefined) return html``
  const wallets = new Set(charted.flatMap(({ transfers }) => transfers.map(({ wallet }) => wallet)))
  const { chart, note } =
    wallets.size <= MAX_WALLETS_IN_FLOW_CHART ? flowsOf(stats, charted) : matrixOf(stats, charted)
  const bars = charted.map((one) => {
    const total = groupDigits(totalOf(one))
    return html`<li><span><bdi>${partyOf(one).name}</bdi></span><meter min="0" max="${totalOf(first)}" value="${totalOf(one)}">${total}</meter> ${total}</li>`
  })
  return html`<div class="picture wide" tabindex="0" role="group" aria-label="Chart">${chart}</div>
<ol class="ranked">${bars}</ol>
<p class="note">${charted.length < count ? `${charted.length} of ${formatCount(count, 'counterparty')} drawn: those with the most transfers. ` : ''}${note}</p>
${tableDetails(pairsTable(stats, charted))}`
}

const partyOf = ({ address, name }: Counterparty): Party => ({
  address,
  name: name === null ? shortAddress(address) : shortName(name),
})

type Chart = { chart: Html; note: Html }

function flowsOf(stats: LedgerStats, charted: readonly Counterparty[]): Chart {
  const flows = (direction: 'received' | 'sent'): Flow[] =>
    charted.flatMap((one) =>
      one.transfers
        .filter((transfers) => transfers[direction] > 0)
        .map(({ wallet, [direction]: count }) => ({
          counterparty: partyOf(one),
          count,
          wallet: { address: wallet, name: walletText(stats, wallet) },
        })),
    )
  const description = 'Transfers from counterparties to the wallets, and from the wallets to counterparties'
  return {
    chart: flowChart(flows('received'), flows('sent'), description),
    note: html`<span class="wide">Left: senders; middle: the wallets; right: receivers. The wider a ribbon, the more transfers it stands for.</span>`,
  }
}

function matrixOf(stats: LedgerStats, charted: readonly Counterparty[]): Chart {
  const totals = new Map<string, number>()
  for (const { transfers } of charted)
    for (const one of transfers) totals.set(one.wallet, (totals.get(one.wallet) ?? 0) + totalOf(one))
  const wallets = [...totals].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([wallet]) => wallet)
  const columns = wallets.slice(0, MAX_MATRIX_COLUMNS)
  const rows = charted.map((counterparty) => {
    const byWallet = new Map(counterparty.transfers.map((one) => [one.wallet, totalOf(one)]))
    return {
      name: `${partyOf(counterparty).name} ${groupDigits(totalOf(counterparty))}`,
      counts: columns.map((wallet) => byWallet.get(wallet) ?? 0),
    }
  })
  const names = columns.map((wallet) => walletText(stats, wallet))
  const omitted = wallets.length - columns.length
  return {
    chart: matrixHeatMap(rows, names, 'Transfers between counterparties and wallets'),
    note: html`<span class="wide">Rows: counterparties; columns: wallets, both with the most transfers first. The stronger the colour of a cell, the more transfers.${omitted === 0 ? '' : ` ${columns.length} of ${formatCount(wallets.length, 'wallet')} drawn.`}</span>`,
  }
}

/** More columns would be too narrow for their names. */
const MAX_MATRIX_COLUMNS = 60

/** A line per counterparty and wallet. */
function pairsTable(stats: LedgerStats, charted: readonly Counterparty[]): Html {
  const rows = charted.flatMap(({ address, name, transfers }) =>
    transfers.map(({ wallet, received, sent }) => [
      nameCell(name),
      { html: addressHtml(address), sort: address },
      { html: walletHtml(stats, wallet), sort: walletText(stats, wallet) },
      countCell(received),
      countCell(sent),
    ]),
  )
  const headers = ['counterparty', 'address', 'wallet', 'received from', 'sent to']
  const shown = rows.slice(0, MAX_TABLE_ROWS)
  const options = { noun: 'pair', count: rows.length }
  return tableHtml('Transfers by counterparty and wallet', { headers, rows: shown }, options)
}
