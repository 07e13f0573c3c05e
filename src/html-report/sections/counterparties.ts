import type { Counterparty } from '../counterparties.ts'
import { flowChart } from '../flow-chart.ts'
import {
  addressHtml,
  type Cell,
  countCell,
  groupDigits,
  type Html,
  html,
  nameHtml,
  shortAddress,
  tableDetails,
  tableHtml,
  textCell,
} from '../html.ts'
import type { LedgerStats } from '../ledger-stats.ts'
import { shortName, walletHtml, walletText } from '../view.ts'

/** Counterparties shown on each side of the chart. */
const MAX_SHOWN = 12
/** Wallets shown in the matrix of own transfers. */
const MAX_OWN_WALLETS = 20

/** Counterparties by number of transfers, because amounts of different assets cannot be added. */
export function counterpartiesSection(stats: LedgerStats): Html {
  const { counterparties } = stats
  if (counterparties.count === 0 && stats.aggregates.ownTransfers.size === 0) return html``
  const rows = counterparties.top.map((counterparty) => counterpartyRow(stats, counterparty))
  const headers = ['counterparty', 'address', 'transfers', 'received from', 'sent to', 'wallets']
  return html`<section id="parties"><h2>Counterparties</h2>
${chartOf(stats)}
${rows.length === 0 ? '' : tableHtml('Counterparties with the most transfers', headers, rows)}
${counterparties.count > rows.length ? html`<p class="note">Not listed: ${groupDigits(counterparties.count - rows.length)} with fewer transfers.</p>` : ''}
${ownTransferMatrix(stats)}
</section>`
}

function counterpartyRow(stats: LedgerStats, counterparty: Counterparty): Cell[] {
  const wallets = counterparty.transfers.map(({ wallet }) => walletText(stats, wallet))
  return [
    nameCell(counterparty.name),
    { html: addressHtml(counterparty.address), sort: counterparty.address },
    ...[
      countCell(counterparty.received + counterparty.sent),
      countCell(counterparty.received),
      countCell(counterparty.sent),
    ],
    textCell(
      wallets.length > 3
        ? `${wallets.slice(0, 3).join(', ')} and ${wallets.length - 3} more`
        : wallets.join(', '),
    ),
  ]
}

const nameCell = (name: string | null): Cell =>
  name === null ? textCell('–') : { html: nameHtml(name), sort: name }

function chartOf(stats: LedgerStats): Html {
  const { top } = stats.counterparties
  const nameOf = ({ name, address }: Counterparty) =>
    name === null ? shortAddress(address) : shortName(name)
  const flows = (direction: 'received' | 'sent') =>
    [...top]
      .sort((a, b) => b[direction] - a[direction])
      .slice(0, MAX_SHOWN)
      .flatMap((counterparty) =>
        counterparty.transfers.flatMap(({ wallet, ...counts }) =>
          counts[direction] === 0
            ? []
            : [
                {
                  counterparty: nameOf(counterparty),
                  key: counterparty.address,
                  wallet: walletText(stats, wallet),
                  count: counts[direction],
                },
              ],
        ),
      )
  const [incoming, outgoing] = [flows('received'), flows('sent')]
  if (incoming.length + outgoing.length === 0) return html``
  const description =
    'Transfers from the busiest senders to the wallets, and from the wallets to the busiest receivers'
  const bars = top
    .slice(0, MAX_SHOWN)
    .map(
      (counterparty) =>
        html`<li><span><bdi>${nameOf(counterparty)}</bdi></span><meter min="0" max="${(top[0]?.received ?? 0) + (top[0]?.sent ?? 0)}" value="${counterparty.received + counterparty.sent}">${counterparty.received + counterparty.sent}</meter> ${groupDigits(counterparty.received + counterparty.sent)}</li>`,
    )
  return html`<div class="picture wide" tabindex="0" role="group" aria-label="Chart">${flowChart(incoming, outgoing, description)}</div>
<ol class="ranked">${bars}</ol>
<p class="note">Left: senders; middle: the wallets; right: receivers. The wider a ribbon, the more transfers it stands for.</p>`
}

/** Matrix of the numbers of movements from one own wallet to another. */
function ownTransferMatrix(stats: LedgerStats): Html {
  const { ownTransfers } = stats.aggregates
  if (ownTransfers.size === 0) return html``
  const pairs = [...ownTransfers].map(([key, count]) => ({
    from: key.split(' ')[0] ?? '',
    to: key.split(' ')[1] ?? '',
    count,
  }))
  const totals = new Map<string, number>()
  for (const { from, to, count } of pairs)
    for (const wallet of [from, to]) totals.set(wallet, (totals.get(wallet) ?? 0) + count)
  const wallets = [...totals].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_OWN_WALLETS)
  const rows = wallets.map(([from]) => [
    { html: walletHtml(stats, from), sort: walletText(stats, from) },
    ...wallets.map(([to]) => countCell(ownTransfers.get(`${from} ${to}`) ?? 0)),
  ])
  const names = wallets.map(([wallet]) => walletText(stats, wallet))
  return html`<h3>Between own wallets</h3>
${tableDetails(tableHtml('Movements from the wallet of the row to the wallet of the column', ['from', ...names], rows))}`
}
