import { shiftDecimal } from '../../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import { dayChart, MAX_LAYERS, shareBar, swatch } from '../charts.ts'
import type { Holding } from '../holdings.ts'
import { type Html, html, lazyDetails } from '../html.ts'
import { moneyCell, tableHtml, textCell } from '../tables.ts'
import { assetHtml, nameList, type PortfolioView } from '../view.ts'
import { dayName, type Worth } from '../worth.ts'
import { heldAssets, priceOf } from './holdings.ts'

/** Balances shown in place of the total if there are no prices. */
const MAX_FIGURES = 3

/** The total with its date and coverage, the allocation and the value by day; without prices, the main balances. */
export function worthSection(view: PortfolioView): Html {
  const { text, portfolio } = view
  const { worth, sums } = portfolio
  const m = text.messages.worth
  const day = text.day(sums.last === '' ? new Date(0).toISOString() : sums.last)
  const held = heldAssets(view)
  const unpriced = held.filter(({ id }) => priceOf(view, id) === undefined)
  const rebasing = [...portfolio.holdings.assets.values()].filter(
    ({ excluded, amount }) => excluded === 'rebasing' && amount !== 0n,
  )
  const content =
    worth === undefined || held.length === 0 ? figures(view, day) : totalHtml(view, { worth, held, unpriced })
  return html`<section id="worth"><h2>${worth === undefined ? m.balances : m.title}</h2>
${content}
${worth === undefined || unpriced.length === 0 || held.length === unpriced.length ? '' : html`<p class="note">${text.fill(m.unpriced, { names: nameList(view, unpriced, 12) })}</p>`}
${rebasing.length === 0 ? '' : html`<p class="note">${text.fill(m.rebasing, { names: nameList(view, rebasing, 12) })}</p>`}
</section>`
}

function figures(view: PortfolioView, day: string): Html {
  const { text } = view
  const held = heldAssets(view).slice(0, MAX_FIGURES)
  if (held.length === 0) return html`<p>${text.messages.worth.nothing}</p>`
  const items = held.map(
    (asset) => html`<li><b>${text.amount(asset.amount, asset.decimals)}</b> ${assetHtml(view, asset)}</li>`,
  )
  return html`<ul class="figures">${items}</ul><p class="note">${text.plain(text.messages.worth.noPrices, { day })}</p>`
}

type Valued = { worth: Worth; held: readonly Holding[]; unpriced: readonly Holding[] }

function totalHtml(view: PortfolioView, { worth, held, unpriced }: Valued): Html {
  const { text, portfolio } = view
  const m = text.messages.worth
  const currency = portfolio.prices?.currency ?? ''
  if (unpriced.length === held.length)
    return html`${figures(view, text.day(portfolio.sums.last))}<p class="note">${m.noneHasPrice}</p>`
  const remarks = [
    text.plain(m.total, { day: text.day(portfolio.sums.last) }),
    text.plain(m.coverage, {
      priced: text.number(held.length - unpriced.length),
      all: text.number(held.length),
    }),
    ...(worth.isOld.includes(true) ? [m.old] : []),
  ]
  return html`<p class="total">${text.money(worth.totals.at(-1) ?? 0n)} <small>${currency}</small></p>
<p class="note">${remarks.join(' · ')}</p>
${allocation(view, worth)}
${chartOf(view, worth)}`
}

const numberOf = (value: bigint): number => Number(shiftDecimal(String(value), FIAT_DECIMALS))

/** The shares of the assets with positive values: a bar and a legend. */
function allocation(view: PortfolioView, { assets }: Worth): Html {
  const { text, portfolio } = view
  const positive = assets.filter(({ values }) => (values.at(-1) ?? 0n) > 0n)
  const values = positive.map((asset) => numberOf(asset.values.at(-1) ?? 0n))
  const sum = values.reduce((all, value) => all + value, 0)
  if (positive.length < 2) return html``
  const isAll = positive.length <= MAX_LAYERS
  const shown = isAll ? values : values.slice(0, MAX_LAYERS - 1)
  const others = sum - shown.reduce((all, value) => all + value, 0)
  const shares = [...shown, ...(isAll ? [] : [others])].map((value) => value / sum)
  const items = shares.map((share, at) => {
    const holding = at < shown.length ? portfolio.holdings.assets.get(positive[at]?.id ?? '') : undefined
    const name = holding === undefined ? text.messages.worth.others : assetHtml(view, holding)
    return html`<li>${swatch(at)} ${name} ${text.percent(share)}</li>`
  })
  return html`${shareBar(shares, text.messages.worth.allocation)}<ul class="legend">${items}</ul>`
}

/** The value by day, stacked by asset in the order of the legend. */
function chartOf({ text, portfolio }: PortfolioView, worth: Worth): Html {
  const m = text.messages.worth
  const currency = portfolio.prices?.currency ?? ''
  const description = text.plain(m.chart, { currency })
  const layers = worth.assets.map(({ values }) => values.map(numberOf))
  const hasNegative = layers.some((values) => values.some((value) => value < 0))
  const isAll = layers.length <= MAX_LAYERS
  const others = layers.slice(MAX_LAYERS - 1)
  const stacked = isAll
    ? layers
    : [
        ...layers.slice(0, MAX_LAYERS - 1),
        worth.days.map((_, day) => others.reduce((sum, layer) => sum + (layer[day] ?? 0), 0)),
      ]
  const { days, isOld } = worth
  const totals = worth.totals.map(numberOf)
  const chart = dayChart({ days, totals, isOld, description, layers: hasNegative ? [] : stacked }, text)
  const rows = days.map((day, at) => [textCell(dayName(day)), moneyCell(worth.totals[at], text)]).reverse()
  const headers = [m.day, text.plain(m.value, { currency })]
  return html`${chart}${lazyDetails('data', m.table, tableHtml({ caption: description, headers, rows }, text))}`
}
