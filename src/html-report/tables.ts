import { shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/prices.ts'
import { amountHtml, fiatHtml, formatCount, groupDigits, Html, html } from './html.ts'

/** A cell of a table. `sort` is its sort key; by default its text. */
export type Cell = { html: Html; sort?: string | number; isNumber?: boolean; isLong?: boolean }

export type TableOptions = {
  /** What the rows are, in the singular. @default 'row' */
  noun?: string
  /** The number of all rows, if `rows` lacks some because the page would become too large. @default rows.length */
  count?: number
  /** The cells of the last line, without the first one. @default no totals */
  totals?: readonly Cell[] | undefined
  /** The first cell of the last line. @default 'Total', or 'Total of all …' if `rows` lacks some */
  totalName?: string | undefined
}

/** Rows of one table in a page. More would make pages of many megabytes. */
export const MAX_TABLE_ROWS = 500
/** Rows that a long table shows until the user shows all of them. The style sheet hides the others. */
const SHOWN_ROWS = 40

/** A table that can be sorted by its column headers. The first column holds the row headers. */
export function tableHtml(
  caption: string,
  { headers, rows }: { headers: readonly string[]; rows: readonly (readonly Cell[])[] },
  { noun = 'row', count = rows.length, totals, ...options }: TableOptions = {},
): Html {
  const numbers = headers.map((_, at) => rows.some((row) => row[at]?.isNumber))
  const isLong = rows.length > SHOWN_ROWS
  const totalName = rows.length < count ? `Total of all ${formatCount(count, noun)}` : 'Total'
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="sortable">
<caption>${caption}</caption>
<thead><tr>${headers.map((header, at) => html`<th scope="col"${new Html(numbers[at] ? ' class="number"' : '')}><button type="button">${header}</button></th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(cellHtml)}</tr>\n`)}</tbody>${totalsHtml(options.totalName ?? totalName, totals)}</table></div>
`
  if (!isLong) return html`${table}${omittedNote(rows.length, { noun, count })}`
  const all = formatCount(count, noun)
  return html`<div class="long">${table}<p class="shown"><span class="some">${SHOWN_ROWS} of ${all} shown</span><span class="print">; the HTML page contains ${rows.length < count ? `${groupDigits(rows.length)} of them` : 'all of them'}</span><span class="all">${rows.length < count ? `${groupDigits(rows.length)} of ${all}` : `All ${all}`} shown</span>
<label><input type="checkbox"> show ${rows.length < count ? `the first ${groupDigits(rows.length)}` : 'all'}</label></p></div>
${omittedNote(rows.length, { noun, count })}`
}

const omittedNote = (shown: number, { noun, count }: { noun: string; count: number }): Html =>
  shown < count
    ? html`<p class="note">This page contains ${groupDigits(shown)} of ${formatCount(count, noun)}. The export contains all of them.</p>`
    : html``

const totalsHtml = (name: string, totals: readonly Cell[] | undefined): Html =>
  totals === undefined ? html`` : html`<tfoot><tr>${[textCell(name), ...totals].map(cellHtml)}</tr></tfoot>`

function cellHtml({ html: content, sort, isNumber, isLong }: Cell, at: number): Html {
  const value = sort === undefined ? '' : html` data-v="${sort}"`.text
  const tag = at === 0 ? 'th scope="row"' : 'td'
  const kind = isNumber ? ' class="number"' : isLong ? ' class="text"' : ''
  return new Html(`<${tag}${kind}${value}>${content.text}</${at === 0 ? 'th' : 'td'}>`)
}

export const textCell = (text: string): Cell => ({ html: html`${text}` })
/** Text that may wrap, such as a sentence. */
export const longTextCell = (text: string): Cell => ({ html: html`${text}`, isLong: true })
/** The name of the totals of a table whose suspicious tokens are in a table of their own. */
export const TOTAL_WITHOUT_SUSPICIOUS = 'Total without suspicious tokens'
/** The cell of a total that has no meaning. */
export const EMPTY_CELL: Cell = { html: html`` }

export const countCell = (count: number): Cell => ({
  html: html`${groupDigits(count)}`,
  sort: count,
  isNumber: true,
})

export function amountCell(value: bigint, decimals: number | null): Cell {
  const exact = shiftDecimal(String(value), decimals) ?? String(value)
  return { html: amountHtml(value, decimals), sort: Number(exact), isNumber: true }
}

/** A fiat value in units of 10^-8; a dash if there is no price. */
export const fiatValueCell = (value: bigint | null | undefined): Cell =>
  value == null
    ? { ...textCell('–'), isNumber: true }
    : {
        html: fiatHtml(value),
        sort: Number(shiftDecimal(String(value), FIAT_DECIMALS)),
        isNumber: true,
      }

/** The summary of details with what is not shown at first. In print, where details are open, it is their title. */
export const moreSummary = (list: { shown: number; count: number; more: number; noun: string }): Html =>
  html`<summary><span class="screen">${list.shown} of ${formatCount(list.count, list.noun)} shown: show ${groupDigits(list.more)} more</span><span class="print">${formatCount(list.more, `further ${list.noun}`)}</span></summary>`

/** The data of a chart as a collapsed table. Its print has no more rows than are shown at first. */
export const tableDetails = (table: Html): Html =>
  html`<details class="as-table"><summary>As a table</summary>${table}</details>`
