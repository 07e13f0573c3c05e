import type { Party } from '../counterparties.ts'
import { flowPicture } from '../flow-chart.ts'
import {
  addressHtml,
  asTable,
  type Cell,
  countCell,
  counted,
  grouped,
  type Html,
  html,
  nameHtml,
  shortAddress,
  tableHtml,
  textCell,
} from '../html.ts'
import type { Figures } from '../ledger-stats.ts'
import { shortName, walletHtml, walletText } from '../view.ts'

/** Parties that the picture shows on either side. */
const MOST_SHOWN = 12
/** Wallets that the matrix shows. */
const MOST_OWN = 20

/** Who dealt with whom: by number of transfers, since amounts of different assets cannot be added. */
export function partiesSection(figures: Figures): Html {
  const { parties } = figures
  if (parties.count === 0 && figures.tally.between.size === 0) return html``
  const rows = parties.most.map((party) => partyRow(figures, party))
  const heads = ['counterparty', 'address', 'transfers', 'received from', 'sent to', 'wallets']
  return html`<section id="parties"><h2>Who with whom</h2>
${pictureOf(figures)}
${rows.length === 0 ? '' : tableHtml('Those with most transfers', heads, rows)}
${parties.count > rows.length ? html`<p class="note">${counted(parties.count - rows.length, 'other')} had fewer.</p>` : ''}
${matrixOf(figures)}
</section>`
}

function partyRow(figures: Figures, party: Party): Cell[] {
  const { labels } = figures
  const wallets = party.transfers.map(({ wallet }) => walletText(figures, wallet))
  return [
    nameCell(labels.get(party.address) ?? party.name),
    { html: addressHtml(party.address), sort: party.address },
    ...[countCell(party.received + party.sent), countCell(party.received), countCell(party.sent)],
    textCell(
      wallets.length > 3
        ? `${wallets.slice(0, 3).join(', ')} and ${wallets.length - 3} more`
        : wallets.join(', '),
    ),
  ]
}

const nameCell = (name: string | null): Cell =>
  name === null ? textCell('–') : { html: nameHtml(name), sort: name }

function pictureOf(figures: Figures): Html {
  const { most } = figures.parties
  const nameOf = ({ name, address }: Party) => (name === null ? shortAddress(address) : shortName(name))
  const flows = (way: 'received' | 'sent') =>
    [...most]
      .sort((a, b) => b[way] - a[way])
      .slice(0, MOST_SHOWN)
      .flatMap((party) =>
        party.transfers.flatMap(({ wallet, ...counts }) =>
          counts[way] === 0
            ? []
            : [
                {
                  party: nameOf(party),
                  key: party.address,
                  wallet: walletText(figures, wallet),
                  count: counts[way],
                },
              ],
        ),
      )
  const [into, out] = [flows('received'), flows('sent')]
  if (into.length + out.length === 0) return html``
  const sentence =
    'Transfers from the busiest senders to the wallets, and from the wallets to the busiest receivers'
  const bars = most
    .slice(0, MOST_SHOWN)
    .map(
      (party) =>
        html`<li><span><bdi>${nameOf(party)}</bdi></span><meter min="0" max="${(most[0]?.received ?? 0) + (most[0]?.sent ?? 0)}" value="${party.received + party.sent}">${party.received + party.sent}</meter> ${grouped(party.received + party.sent)}</li>`,
    )
  return html`<div class="picture wide" tabindex="0" role="group" aria-label="Picture">${flowPicture(into, out, sentence)}</div>
<ol class="ranked">${bars}</ol>
<p class="note">Left: who sent; middle: the wallets; right: who received. A ribbon is as wide as its number of transfers.</p>`
}

/** How often one own wallet sent to another. */
function matrixOf(figures: Figures): Html {
  const { between } = figures.tally
  if (between.size === 0) return html``
  const pairs = [...between].map(([key, count]) => ({
    from: key.split(' ')[0] ?? '',
    to: key.split(' ')[1] ?? '',
    count,
  }))
  const totals = new Map<string, number>()
  for (const { from, to, count } of pairs)
    for (const wallet of [from, to]) totals.set(wallet, (totals.get(wallet) ?? 0) + count)
  const wallets = [...totals].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MOST_OWN)
  const rows = wallets.map(([from]) => [
    { html: walletHtml(figures, from), sort: walletText(figures, from) },
    ...wallets.map(([to]) => countCell(between.get(`${from} ${to}`) ?? 0)),
  ])
  const names = wallets.map(([wallet]) => walletText(figures, wallet))
  return html`<h3>Between own wallets</h3>
${asTable(tableHtml('Movements from the wallet of the row to that of the column', ['from', ...names], rows))}`
}
