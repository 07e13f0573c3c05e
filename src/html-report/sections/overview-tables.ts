import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { coverageBar } from '../charts.ts'
import { rangeOfJob } from '../data-collection.ts'
import { addressHtml, type Html, html } from '../html.ts'
import type { Overview, Sender } from '../overview.ts'
import {
  amountCell,
  type Cell,
  countCell,
  EMPTY_CELL,
  MAX_TABLE_ROWS,
  tableHtml,
  textCell,
} from '../tables.ts'
import { coinOf, labelHtml } from '../view.ts'

/** Contents of the export by table, and by wallet if the job has wallets. */
export function tablesSection({ manifest, labels }: Overview): Html {
  const rows = Object.entries(manifest.tables).map(([name, { rows: count, files }]) => [
    textCell(name),
    ...[count, files.length, files.reduce((sum, { bytes }) => sum + bytes, 0)].map(countCell),
  ])
  return html`<section id="tables"><h2>Contents</h2>
${tableHtml('Tables', { headers: ['table', 'rows', 'files', 'bytes'], rows })}
${walletsTable(manifest, labels)}
</section>`
}

function walletsTable(manifest: Overview['manifest'], labels: Overview['labels']): Html {
  const { coverage } = manifest
  if (coverage.length === 0) return html``
  const range = rangeOfJob(manifest)
  const busiest = [...coverage].sort(
    (a, b) => b.transactions - a.transactions || (a.address < b.address ? -1 : 1),
  )
  const rows = busiest
    .slice(0, MAX_TABLE_ROWS)
    .map(({ address, transactions, fromBlock, toBlock }) => [
      { html: labelHtml(labels, address), sort: labels.get(address) ?? address },
      { html: addressHtml(address), sort: address },
      countCell(transactions),
      { html: coverageBar(range, { from: fromBlock, to: toBlock }), sort: toBlock },
    ])
  const headers = ['wallet', 'address', 'transactions', 'read']
  return tableHtml('Wallets', { headers, rows }, { noun: 'wallet', count: coverage.length })
}

/** The senders with the most transactions. */
export function sendersSection({ manifest, labels, transactions }: Overview): Html {
  if (transactions === undefined || transactions.count === 0) return html``
  const { busiest, senders, count, failed, fees } = transactions
  const headers = ['sender', 'address', 'transactions', 'failed', `fees, ${coinOf({ manifest })}`]
  const totals = [EMPTY_CELL, countCell(count), countCell(failed), amountCell(fees, COIN_DECIMALS)]
  return html`<section id="senders"><h2>Senders</h2>
${tableHtml(
  'Senders with the most transactions',
  { headers, rows: busiest.map((sender) => senderRow(labels, sender)) },
  { noun: 'sender', count: senders, totals },
)}
</section>`
}

const senderRow = (labels: Overview['labels'], { address, count, failed, fees }: Sender): Cell[] => [
  { html: labelHtml(labels, address), sort: labels.get(address) ?? address },
  { html: addressHtml(address), sort: address },
  countCell(count),
  countCell(failed),
  amountCell(fees, COIN_DECIMALS),
]
