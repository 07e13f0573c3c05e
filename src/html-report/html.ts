import { shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/fiat-value.ts'
import { groupDigits } from './numbers.ts'
import { visibleText } from './visible-text.ts'

export { formatCount, groupDigits } from './numbers.ts'

/** HTML that is safe to put into a page: untrusted text in it is escaped. Pages are built from this type only. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type HtmlPart = Html | string | number | readonly HtmlPart[] | undefined

/** Template tag that builds HTML. Inserted values are escaped unless they are `Html` already. */
export function html(texts: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = texts[0] ?? ''
  for (const [at, part] of parts.entries()) text += textOf(part) + (texts[at + 1] ?? '')
  return new Html(text)
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(visibleText(String(part)))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '')

/** Maximum length of a name on a page, in Unicode code points. */
const MAX_NAME_LENGTH = 60

/** An untrusted name, truncated, and in `<bdi>` so that its text direction does not affect the text around it. */
export function nameHtml(name: string): Html {
  const characters = [...name.slice(0, 4 * MAX_NAME_LENGTH)]
  const short =
    characters.length > MAX_NAME_LENGTH ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : name
  return html`<bdi>${short}</bdi>`
}

/** The first and last four hex digits of an address: `0x1234…abcd`. */
export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`

/** A shortened address with the full one in its `title`. */
export const addressHtml = (address: string): Html =>
  html`<span class="address" title="${address}">${shortAddress(address)}</span>`

/**
 * Formats an exact decimal for reading: `8.31 × 10^73`, `1 234.57`. Digits beyond the displayed precision are cut off, not
 * rounded.
 */
export function formatShortNumber(exact: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(exact) ?? []
  const minus = sign === '' ? '' : '−'
  if (whole.length > 15) return minus + scientific(whole, whole.length - 1)
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  if (whole === '0' && zeros >= 6 && zeros < fraction.length)
    return minus + scientific(fraction.slice(zeros), -zeros - 1)
  const decimalPlaces = Math.max(2, 7 - whole.length) + (whole === '0' ? zeros : 0)
  const trimmed = fraction.slice(0, decimalPlaces).replace(/0+$/, '')
  return `${minus}${groupDigits(whole)}${trimmed === '' ? '' : `.${trimmed}`}`
}

function scientific(digits: string, exponent: number): string {
  const rest = digits.slice(1, 3).replace(/0+$/, '')
  return `${digits[0]}${rest === '' ? '' : `.${rest}`} × 10^${exponent}`
}

/** An amount, shortened for reading, with the exact value in its `title`; in smallest units if `decimals` is null. */
export function amountHtml(value: bigint, decimals: number | null): Html {
  const exact = shiftDecimal(String(value), decimals)
  if (exact === null)
    return html`<span class="amount" title="in the smallest unit: ${value.toString()}">${formatShortNumber(String(value))} <small>units</small></span>`
  return html`<span class="amount" title="${exact}">${formatShortNumber(exact)}</span>`
}

/** Formats a share as a percentage; below 10 % with one decimal. */
export function percent(part: number, total: number): string {
  if (total === 0) return '0 %'
  const share = (100 * part) / total
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`
}

/** Formats a timestamp of the tables to the minute: `2023-11-14 22:13 UTC`. */
export const formatUtcMinute = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`

export type Cell = { html: Html; sort?: string | number; isNumber?: boolean }

/** A table that can be sorted by its column headers. The first column holds the row headers. */
export function tableHtml(
  caption: string,
  headers: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html {
  const numbers = headers.map((_, at) => rows.some((row) => row[at]?.isNumber))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="sortable">
<caption>${caption}</caption>
<thead><tr>${headers.map((header, at) => html`<th scope="col"${new Html(numbers[at] ? ' class="number"' : '')}><button type="button">${header}</button></th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(cellHtml)}</tr>\n`)}</tbody></table></div>
`
}

function cellHtml({ html: content, sort, isNumber }: Cell, at: number): Html {
  const value = sort === undefined ? '' : html` data-v="${sort}"`.text
  const tag = at === 0 ? 'th scope="row"' : 'td'
  return new Html(
    `<${tag}${isNumber ? ' class="number"' : ''}${value}>${content.text}</${at === 0 ? 'th' : 'td'}>`,
  )
}

export const textCell = (text: string): Cell => ({ html: html`${text}` })
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
export const fiatValueCell = (value: bigint | undefined): Cell =>
  value === undefined ? { ...textCell('–'), isNumber: true } : amountCell(value, FIAT_DECIMALS)

/** The data of a chart as a collapsed table. */
export const tableDetails = (table: Html): Html =>
  html`<details class="as-table"><summary>As a table</summary>${table}</details>`
