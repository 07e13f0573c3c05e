import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { coverageBar } from '../charts.ts'
import { rangeOfJob } from '../data-collection.ts'
import {
  addressHtml,
  amountCell,
  type Cell,
  countCell,
  formatCount,
  type Html,
  html,
  tableHtml,
  textCell,
} from '../html.ts'
import type { Overview, Sender } from '../overview.ts'
import { coinOf, labelHtml } from '../view.ts'

/** Wallets listed on a page: those with the most transactions. */
const MAX_WALLETS = 200

/** Contents of the export by table, and by wallet if the job has wallets. */
export function tablesSection({ manifest, labels }: Overview): Html {
  const rows = Object.entries(manifest.tables).map(([name, { rows: count, files }]) => [
    textCell(name),
    ...[count, files.length, files.reduce((sum, { bytes }) => sum + bytes, 0)].map(countCell),
  ])
  return html`<section id="tables"><h2>Contents</h2>
${tableHtml('Tables', ['table', 'rows', 'files', 'bytes'], rows)}
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
    .slice(0, MAX_WALLETS)
    .map(({ address, transactions, fromBlock, toBlock }) => [
      { html: labelHtml(labels, address), sort: labels.get(address) ?? address },
      { html: addressHtml(address), sort: address },
      countCell(transactions),
      { html: coverageBar(range, { from: fromBlock, to: toBlock }), sort: toBlock },
    ])
  return html`${tableHtml('Wallets', ['wallet', 'address', 'transactions', 'read'], rows)}
${coverage.length > MAX_WALLETS ? html`<p class="note">Not listed: ${formatCount(coverage.length - MAX_WALLETS, 'wallet')} with fewer transactions.</p>` : ''}`
}

/** The senders with the most transactions. */
export function sendersSection({ manifest, labels, transactions }: Overview): Html {
  if (transactions === undefined || transactions.count === 0) return html``
  const { busiest, senders } = transactions
  const headers = ['sender', 'address', 'transactions', 'failed', `fees, ${coinOf({ manifest })}`]
  return html`<section id="senders"><h2>Senders</h2>
${tableHtml(
  'Senders with the most transactions',
  headers,
  busiest.map((sender) => senderRow(labels, sender)),
)}
${senders > busiest.length ? html`<p class="note">Not listed: ${formatCount(senders - busiest.length, 'sender')} with fewer transactions.</p>` : ''}
</section>`
}

const senderRow = (labels: Overview['labels'], { address, count, failed, fees }: Sender): Cell[] => [
  { html: labelHtml(labels, address), sort: labels.get(address) ?? address },
  { html: addressHtml(address), sort: address },
  ...[countCell(count), countCell(failed), amountCell(fees, COIN_DECIMALS)],
]
