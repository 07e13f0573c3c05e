import { type Holding, isCounted } from '../holdings.ts'
import { type Html, html, lazyDetails } from '../html.ts'
import { amountCell, type Cell, EMPTY_CELL, moneyCell, tableHtml, textCell } from '../tables.ts'
import { assetHtml, assetText, chainName, nameList, type PortfolioView, partyHtml } from '../view.ts'
import { type AssetYear, YEAR_AMOUNTS, type YearAmount, type YearSums } from '../year-sums.ts'
import { sealOf } from './head.ts'

/** A line of a year: an asset and its sums. */
type Line = { asset: Holding; year: AssetYear }

/** The statements by year, newest first: one line per asset, and a page to sign. */
export function yearsSection(view: PortfolioView): Html {
  const { years } = view.portfolio
  const { messages } = view.text
  if (years.length === 0) return html``
  return html`<section id="years"><h2>${messages.years.title}</h2>
<p class="note">${messages.years.note}</p>
${years.map((year, at) => yearHtml(view, year, at === 0))}
</section>`
}

function yearHtml(view: PortfolioView, sums: YearSums, isOpen: boolean): Html {
  const lines = linesOf(view, sums)
  const counted = lines.filter(({ asset }) => asset.excluded === undefined)
  const others = lines.filter(({ asset }) => asset.excluded !== undefined)
  const { year } = sums
  const m = view.text.messages
  const caption = view.text.plain(m.years.caption, { year })
  const content = html`${yearTable(view, counted, caption)}
${others.length === 0 ? '' : html`<details><summary>${m.holdings.uncounted}: ${view.text.count(others.length, 'assets')}</summary>${yearTable(view, others, `${caption}: ${m.holdings.uncounted}`)}</details>`}
${lazyDetails('sheet', m.sheet.open, sheetHtml(view, counted, year))}`
  const heading = html`<h3>${year}</h3>`
  return isOpen
    ? html`<details class="year" open><summary>${heading}</summary>${content}</details>`
    : lazyDetails('year', heading, content)
}

/** The lines of a year: coins, then well-known tokens, other tokens and NFTs. */
function linesOf({ portfolio }: PortfolioView, { assets }: YearSums): Line[] {
  const lines = [...assets.values()].flatMap((year) => {
    const asset = portfolio.holdings.assets.get(year.id)
    return asset === undefined ? [] : [{ asset, year }]
  })
  const rank = ({ asset, year }: Line) =>
    (asset.type === 'native' ? 0 : isCounted(asset) ? 2 : 4) -
    (year.values.closing ? 1 : 0) -
    (asset.isKnown ? 0.5 : 0)
  const movements = ({ asset }: Line) => portfolio.sums.movements.get(asset.id) ?? 0
  return lines.sort((a, b) => rank(a) - rank(b) || movements(b) - movements(a))
}

/** One line per asset with the columns that are not empty; with prices, values below the amounts and their totals. */
function yearTable(view: PortfolioView, lines: readonly Line[], caption: string): Html {
  const { text, portfolio } = view
  const m = text.messages
  const currency = portfolio.prices?.currency
  const names = YEAR_AMOUNTS.filter((name) => lines.some(({ year }) => year.amounts[name] !== 0n))
  const closing = names.indexOf('closing')
  const change = totalChange(lines)
  const withChange = <T>(cells: readonly T[], cell: T): readonly T[] =>
    change === undefined || closing === -1 ? cells : cells.toSpliced(closing, 0, cell)
  const rows = lines.map(({ asset, year }) => {
    const amounts = names.map((name) =>
      withValue(amountCell(year.amounts[name], year.decimals, text), year.values[name], view),
    )
    const cell = moneyCell(priceChange(year.values), text)
    return [
      { html: assetHtml(view, asset), exact: assetText(asset) },
      ...withChange(amounts, { ...cell, html: html`<br><small>${cell.html}</small>` }),
    ]
  })
  const totals =
    currency === undefined || !lines.some(({ asset }) => asset.excluded === undefined)
      ? undefined
      : [
          textCell(text.plain(m.years.total, { currency })),
          ...withChange(
            names.map((name) => moneyCell(sumOf(lines, name), text)),
            moneyCell(change, text),
          ),
        ]
  const columns = names.map((name) => m.years.columns[name] ?? name)
  const headers = [m.holdings.asset, ...withChange(columns, m.years.change)]
  const unpriced = lines.filter(
    ({ asset, year }) => isCounted(asset) && names.some((name) => year.values[name] === null),
  )
  const note =
    currency === undefined || unpriced.length === 0
      ? ''
      : html`<p class="note">${text.fill(m.years.partial, {
          names: nameList(
            view,
            unpriced.map(({ asset }) => asset),
          ),
        })}</p>`
  return html`${tableHtml({ caption, isTitled: true, headers, rows, totals }, text)}${note}`
}

/** The amounts that a closing amount is the sum of. */
const CLOSING_SUM: readonly [name: YearAmount, sign: bigint][] = [
  ['opening', 1n],
  ['received', 1n],
  ['sent', -1n],
  ['swapped', 1n],
  ['wrapped', 1n],
  ['fees', -1n],
]

/** What changed an asset's value besides its movements; null if a price is missing. */
function priceChange(values: AssetYear['values']): bigint | null {
  let change = values.closing
  for (const [name, sign] of CLOSING_SUM) {
    const value = values[name]
    change = change === null || value === null ? null : change - sign * value
  }
  return change
}

/** The sum of the price changes; null if a price is missing for one of them, and undefined if all are unknown. */
function totalChange(lines: readonly Line[]): bigint | null | undefined {
  const changes = lines.flatMap(({ year }) => {
    const isValued = YEAR_AMOUNTS.some((name) => year.values[name])
    return isValued ? [priceChange(year.values)] : []
  })
  if (changes.every((change) => change === null)) return undefined
  return changes.reduce((sum, change) => (sum === null || change === null ? null : sum + change), 0n)
}

/** An amount with its value below it; empty if it is zero. */
function withValue(cell: Cell, value: bigint | null, { text, portfolio }: PortfolioView): Cell {
  if (cell.exact === '0') return { ...cell, html: html`` }
  if (portfolio.prices === undefined || !value) return cell
  return { ...cell, html: html`${cell.html}<br><small>${text.money(value)}</small>` }
}

/** The sum of the known values; null if there are none, or others are all zero. */
function sumOf(lines: readonly Line[], name: YearAmount): bigint | null {
  const values = lines.map(({ year }) => year.values[name])
  const known = values.filter((value) => value !== null)
  const isKnown = known.length === values.length || known.some((value) => value !== 0n)
  return isKnown ? known.reduce((sum, value) => sum + value, 0n) : null
}

/** Assets on the page to sign. More would not fit an A4 page. */
const MAX_LINES = 16

/** A page to sign: holdings at both ends, what moved in between, and whether the export is complete. */
function sheetHtml(view: PortfolioView, lines: readonly Line[], year: string): Html {
  const { text, portfolio, exports, title } = view
  const m = text.messages
  const currency = portfolio.prices?.currency
  const valueHeader = (name: string) =>
    currency === undefined ? [] : [text.plain(m.sheet.valueOf, { name, currency })]
  const [begin, end] = [text.plain(m.sheet.begin, { year }), text.plain(m.sheet.end, { year })]
  const isHeld = (all: Record<'opening' | 'closing', bigint | null>) =>
    all.opening !== 0n || all.closing !== 0n
  const held = lines.filter(({ year }) => isHeld(year.amounts) && isHeld(year.values))
  const amounts = (line: Line, name: 'opening' | 'closing') => [
    amountCell(line.year.amounts[name], line.year.decimals, text),
    ...(currency === undefined ? [] : [moneyCell(line.year.values[name], text)]),
  ]
  const rows = held
    .slice(0, MAX_LINES)
    .map((line) => [
      { html: contractHtml(view, line.asset), exact: assetText(line.asset) },
      ...amounts(line, 'opening'),
      ...amounts(line, 'closing'),
    ])
  const total = (name: 'opening' | 'closing') => [EMPTY_CELL, moneyCell(sumOf(lines, name), text)]
  const totals =
    currency === undefined
      ? undefined
      : [textCell(m.holdings.total), ...total('opening'), ...total('closing')]
  const headers = [m.holdings.asset, begin, ...valueHeader(begin), end, ...valueHeader(end)]
  const wallets = new Map(
    exports.flatMap(({ chain, manifest }) => manifest.coverage.map(({ address }) => [address, chain])),
  )
  const shown = [...wallets]
    .slice(0, MAX_LINES)
    .map(([address, chain]) => html`<br>${partyHtml(view, chain, address)} <small>${address}</small>`)
  const others = wallets.size - shown.length
  const { title: state, lines: seal } = sealOf(view)
  const sealText = `${state}: ${seal.join('; ')}`
  return html`<article class="page"><h4>${text.plain(m.sheet.title, { year })}</h4>
<p><strong><bdi>${title}</bdi></strong><br>${text.plain(m.sheet.period, { year })}, ${[...new Set(exports.map(({ chain }) => chainName(chain)))].join(', ')}</p>
<p>${m.wallets}: ${shown}${others === 0 ? '' : `, ${text.count(others, 'others')}`}</p>
${tableHtml({ caption: text.plain(m.sheet.held, { year }), headers, rows, totals }, text)}${held.length > rows.length ? html`<p class="note">${m.sheet.more}</p>` : ''}
${flowsHtml(view, lines)}
<p>${text.plain(m.sheet.complete, { seal: sealText })}</p>
<p class="sign"><span>${m.sheet.sign}</span><span>${m.sheet.signature}</span></p></article>`
}

/** An asset with its contract in full: paper has no links. */
const contractHtml = (view: PortfolioView, asset: Holding): Html =>
  html`${assetHtml(view, asset)}${asset.address === null ? '' : html`<br><small>${asset.address}</small>`}`

/** Amounts of a year that a page to sign states apart from the holdings. */
const SHEET_FLOWS: readonly YearAmount[] = ['received', 'sent', 'own', 'swapped', 'fees']

/** What moved in between: with prices the totals, or else the amounts of the coins. */
function flowsHtml(view: PortfolioView, lines: readonly Line[]): Html {
  const { text, portfolio } = view
  const { years, sheet } = text.messages
  const currency = portfolio.prices?.currency
  const names = YEAR_AMOUNTS.filter(
    (name) => SHEET_FLOWS.includes(name) && lines.some(({ year }) => year.amounts[name] !== 0n),
  )
  const coins = lines.filter(({ asset }) => asset.type === 'native')
  const items = names.flatMap((name) => {
    const label = years.columns[name] ?? name
    if (currency !== undefined) return html`<li>${label}: ${text.money(sumOf(lines, name))} ${currency}</li>`
    return coins
      .filter(({ year }) => year.amounts[name] !== 0n)
      .map(
        ({ asset, year }) =>
          html`<li>${label}: ${text.amount(year.amounts[name], year.decimals)} ${assetHtml(view, asset)}</li>`,
      )
  })
  const change = currency === undefined ? undefined : totalChange(lines)
  if (change != null) items.push(html`<li>${years.change}: ${text.money(change)} ${currency}</li>`)
  return items.length === 0 ? html`` : html`<h5>${sheet.flows}</h5><ul class="flows">${items}</ul>`
}
