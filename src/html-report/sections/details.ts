import { COIN_DECIMALS, isNft } from '../../core/model/asset.ts'
import { chainOf } from '../../core/model/chains.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { smallDayChart } from '../charts.ts'
import type { Counterparty } from '../counterparties.ts'
import { type Flow, flowChart } from '../flow-chart.ts'
import { type Html, html, nameHtml, shortName } from '../html.ts'
import {
  amountCell,
  type Cell,
  countCell,
  longCell,
  moneyCell,
  type Table,
  tableHtml,
  textCell,
} from '../tables.ts'
import type { FeeSum } from '../transaction-sums.ts'
import {
  addressLink,
  assetHtml,
  assetText,
  chainName,
  type PortfolioView,
  partyHtml,
  partyText,
} from '../view.ts'
import { amountsAt } from '../worth.ts'
import { heldAssets } from './holdings.ts'

/** Charts of balances: of the assets that are held, in the order of the holdings. */
const MAX_CHARTS = 12

/** The balance of each asset over time, of all wallets together. Each chart has its own scale. */
export function balancesSection(view: PortfolioView): Html {
  const { text, portfolio } = view
  const { daily } = portfolio.sums
  const days = daily.chartDays()
  const charts = heldAssets(view)
    .slice(0, MAX_CHARTS)
    .flatMap((asset) => {
      const series = daily.series.get(asset.id)
      if (series === undefined) return []
      const totals = amountsAt(days, series).map((amount) => drawnNumber(amount, asset.decimals))
      const description = text.plain(text.messages.balances.chart, { asset: shortName(asset.symbol) })
      return html`<li><h3>${assetHtml(view, asset)}</h3>${smallDayChart({ days, totals, description }, text)}<p>${text.amount(asset.amount, asset.decimals)}</p></li>`
    })
  if (charts.length === 0) return html``
  return html`<section id="balances"><h2>${text.messages.balances.title}</h2><ul class="multiples">${charts}</ul></section>`
}

/** For drawing only: values beyond ±10^300 are clamped so that they fit into a double. */
const drawnNumber = (amount: bigint, decimals: number | null) =>
  Math.min(1e300, Math.max(-1e300, Number(shiftDecimal(String(amount), decimals) ?? String(amount))))

/** The most nodes of a side of the chart. */
const MAX_NODES = 12

/** Counterparties by number of transfers, because amounts of different assets cannot be added; then own transfers. */
export function partiesSection(view: PortfolioView): Html {
  const { text, portfolio } = view
  const m = text.messages.parties
  const { top, count } = portfolio.counterparties
  if (count === 0 && portfolio.sums.ownTransfers.size === 0) return html``
  const rows = top.map(({ chain, address, name, received, sent }): Cell[] => [
    name === null ? textCell('–') : { html: nameHtml(name), exact: name },
    {
      html: addressLink(
        view,
        chain,
        address,
        html`<code>${address.slice(0, 10)}…${address.slice(-6)}</code>`,
      ),
      exact: address,
    },
    countCell(received + sent, text),
    countCell(received, text),
    countCell(sent, text),
  ])
  const headers = [m.name, m.address, m.transfers, m.received, m.sent]
  return html`<section id="parties"><h2>${m.title}</h2>
${flowsHtml(view)}
${rows.length === 0 ? '' : tableHtml({ caption: m.title, isTitled: true, headers, rows, count }, text)}
${ownHtml(view)}
</section>`
}

/** The chart of named counterparties; nothing if they have less than half of the transfers. */
function flowsHtml(view: PortfolioView): Html {
  const { top } = view.portfolio.counterparties
  const named = top.filter(({ name }) => name !== null).slice(0, MAX_NODES)
  const transfers = (parties: readonly Counterparty[]) =>
    parties.reduce((sum, { received, sent }) => sum + received + sent, 0)
  const wallets = new Set(named.flatMap(({ transfers }) => transfers.map(({ wallet }) => wallet)))
  const hasFewNames = named.length < 2 || 2 * transfers(named) < transfers(top)
  if (hasFewNames || wallets.size > MAX_NODES) return html``
  const flows = (direction: 'received' | 'sent'): Flow[] =>
    named.flatMap((party) =>
      party.transfers
        .filter((transfers) => transfers[direction] > 0)
        .map(({ wallet, [direction]: count }) => ({
          counterparty: { address: party.address, name: shortName(party.name ?? '', 22) },
          wallet: { address: wallet, name: partyText(view, party.chain, wallet) },
          count,
        })),
    )
  const { chart } = view.text.messages.parties
  return html`<div class="picture" tabindex="0" role="group" aria-label="${chart}">${flowChart(flows('received'), flows('sent'), chart)}</div>`
}

/** Transfers between own wallets: a sentence for few pairs, or else a table. */
function ownHtml(view: PortfolioView): Html {
  const { text, portfolio, exports } = view
  const m = text.messages.parties
  const [{ chain }] = exports
  const pairs = [...portfolio.sums.ownTransfers]
    .map(([pair, count]) => ({ from: pair.split(' ')[0] ?? '', to: pair.split(' ')[1] ?? '', count }))
    .sort((a, b) => b.count - a.count || (`${a.from}${a.to}` < `${b.from}${b.to}` ? -1 : 1))
  if (pairs.length === 0) return html``
  const party = (address: string) => partyHtml(view, chain, address)
  if (pairs.length <= 4)
    return html`<h3>${m.own}</h3><p>${pairs.map(({ from, to, count }) => html`${text.fill(m.ownSentence, { n: text.number(count), from: party(from), to: party(to) })} `)}</p>`
  const cell = (address: string): Cell => ({
    html: party(address),
    exact: `${partyText(view, chain, address)} ${address}`,
  })
  const rows = pairs.map(({ from, to, count }) => [cell(from), cell(to), countCell(count, text)])
  return html`<h3>${m.own}</h3>${tableHtml({ caption: m.own, isTitled: true, headers: [m.from, m.to, m.transfers], rows, count: pairs.length }, text)}`
}

/** Token ids of a collection that are shown at once, and in all. */
const [MAX_IDS, MAX_ALL_IDS] = [12, 300]

/** NFTs by collection. There are no images, because the page must not load anything. */
export function nftsSection(view: PortfolioView): Html {
  const { text, portfolio } = view
  const m = text.messages.nfts
  const { holdings, sums } = portfolio
  const collections = [...holdings.assets.values()].filter(isNft)
  if (collections.length === 0) return html``
  const rows = collections.map((asset): Cell[] => {
    const { in: into = 0, out = 0 } = sums.collections.get(asset.id) ?? {}
    const ids = [...asset.tokens]
      .filter(([, units]) => units > 0n)
      .sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1))
    return [
      { html: assetHtml(view, asset), exact: assetText(asset) },
      countCell(into, text),
      countCell(out, text),
      countCell(ids.length, text),
      {
        ...longCell(idsHtml(ids, view)),
        exact: ids.map(([id, units]) => (units === 1n ? `#${id}` : `#${id} × ${units}`)).join(' '),
      },
    ]
  })
  const held = (row: readonly Cell[]) => Number(row[3]?.exact)
  rows.sort((a, b) => held(b) - held(a))
  return html`<section id="nfts"><h2>${m.title}</h2>
${tableHtml({ caption: m.title, isTitled: true, headers: [m.collection, m.in, m.out, m.held, m.ids], rows, count: rows.length }, text)}
</section>`
}

function idsHtml(ids: readonly (readonly [id: string, units: bigint])[], { text }: PortfolioView): Html {
  const chips = ids.slice(0, MAX_ALL_IDS).map(([id, units]) => {
    const short = id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id
    return html`<span title="${id}">#${short}${units > 1n ? ` × ${text.number(String(units))}` : ''}</span> `
  })
  const more = chips.slice(MAX_IDS)
  if (more.length === 0) return html`${chips}`
  return html`${chips.slice(0, MAX_IDS)}<details><summary>${text.count(ids.length - MAX_IDS, 'others')}</summary>${more}</details>`
}

/** Fees by month and by method, and the number of failed transactions. */
export function feesSection(view: PortfolioView): Html {
  const { text, portfolio } = view
  const m = text.messages.fees
  const { sums, sent } = portfolio
  if (sums.feesByMonth.size === 0) return html``
  const chains = [...new Set([...sums.feesByMonth.values()].map(({ chain }) => chain))]
  const tables = chains.flatMap((chain) => {
    const [months, methods] = [sums.feesByMonth, sums.feesByMethod].map((all) =>
      [...all]
        .filter(([, sum]) => sum.chain === chain)
        .map(([key, sum]) => ({ name: key.slice(chain.length + 1), sum })),
    ) as [NamedFees[], NamedFees[]]
    const ofChain = view.hasSeveralChains ? `, ${chainName(chain)}` : ''
    months.reverse()
    methods.sort((a, b) => (b.sum.paid > a.sum.paid ? 1 : -1))
    return [
      feeTable(view, chain, {
        caption: `${m.byMonth}${ofChain}`,
        first: m.month,
        fees: months,
        nameOf: text.month,
      }),
      feeTable(view, chain, {
        caption: `${m.byMethod}${ofChain}`,
        first: m.method,
        fees: methods,
        nameOf: (name) => (name === '' ? m.noMethod : shortName(name.replace(/\(.*$/, ''))),
      }),
    ]
  })
  const unpriced = [...sums.feesByMonth.values()].reduce((sum, fee) => sum + fee.unpriced, 0)
  return html`<section id="fees"><h2>${m.title}</h2>
${sent.count === undefined ? '' : html`<p>${text.plain(m.sentence, { sent: text.count(sent.count, 'transactions'), failed: text.count(sent.failed.size, 'failed') })}</p>`}
${tables.map((table) => tableHtml(table, text))}
${portfolio.prices === undefined || unpriced === 0 ? '' : html`<p class="note">${text.count(unpriced, 'fees')}.</p>`}
</section>`
}

type NamedFees = { name: string; sum: FeeSum }
type FeeLines = {
  caption: string
  first: string
  fees: readonly NamedFees[]
  nameOf: (name: string) => string
}

function feeTable(
  { text, portfolio }: PortfolioView,
  chain: string,
  { caption, first, fees, nameOf }: FeeLines,
): Table {
  const m = text.messages.fees
  const currency = portfolio.prices?.currency
  const total = { count: 0, paid: 0n, value: 0n, unpriced: 0 }
  for (const { sum } of fees) for (const name of ['count', 'unpriced'] as const) total[name] += sum[name]
  for (const { sum } of fees) for (const name of ['paid', 'value'] as const) total[name] += sum[name]
  const cells = (sum: Omit<FeeSum, 'chain'>) => [
    countCell(sum.count, text),
    amountCell(sum.paid, COIN_DECIMALS, text),
    ...(currency === undefined ? [] : [moneyCell(sum.unpriced === sum.count ? null : sum.value, text)]),
  ]
  const coin = portfolio.holdings.assets.get(`${chain} native`)?.symbol ?? chainOf(chain)?.symbol ?? ''
  return {
    caption,
    headers: [
      first,
      m.transactions,
      text.plain(m.paid, { coin }),
      ...(currency === undefined ? [] : [text.plain(m.value, { currency })]),
    ],
    rows: fees.map(({ name, sum }) => [
      { html: html`<bdi>${nameOf(name)}</bdi>`, exact: name },
      ...cells(sum),
    ]),
    totals: [textCell(m.total), ...cells(total)],
    count: fees.length,
  }
}
