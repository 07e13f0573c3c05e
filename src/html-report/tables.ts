import { shiftDecimal } from '../core/platform/decimal.ts'
import { FIAT_DECIMALS } from '../ledger/prices/prices.ts'
import { Html, html } from './html.ts'
import type { Text } from './messages/text.ts'
import { exactAmount } from './numbers.ts'

/**
 * A cell of a table. `exact` is its text in the CSV of the table, by which the script sorts too.
 * @default the text that is shown
 */
export type Cell = { html: Html; exact?: string; isNumber?: boolean; isText?: boolean }

export type Table = {
  caption: string
  /** Whether a heading above the table says what the caption says, which is then not shown. @default false */
  isTitled?: boolean
  headers: readonly string[]
  /** The first cell of a row is its header. */
  rows: readonly (readonly Cell[])[]
  /** The cells of the last line. @default no totals */
  totals?: readonly Cell[] | undefined
  /** The number of all rows, if `rows` lacks some because the page would become too large. @default rows.length */
  count?: number
}

/** Rows of one table in a page. More would make pages of many megabytes. */
const MAX_TABLE_ROWS = 500
/** Rows that a long table shows until the user shows all of them. The others are no nodes of the page until then. */
const SHOWN_ROWS = 12

/** A table. The page's script lets readers sort and save it. */
export function tableHtml(table: Table, text: Text): Html {
  const { caption, isTitled = false, headers, totals, count = table.rows.length } = table
  const rows = table.rows.slice(0, MAX_TABLE_ROWS)
  const numbers = headers.map((_, at) => rows.some((row) => row[at]?.isNumber))
  const head = headers.map(
    (header, at) => html`<th scope="col"${new Html(numbers[at] ? ' class="number"' : '')}>${header}</th>`,
  )
  const lines = rows.map((row) => html`<tr>${row.map(cellHtml)}</tr>\n`)
  const foot = totals === undefined ? '' : html`<tfoot><tr>${totals.map(cellHtml)}</tr></tfoot>`
  const body = html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption><span${new Html(isTitled ? ' class="hidden"' : '')}>${caption}</span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${lines.slice(0, SHOWN_ROWS)}${lines.length > SHOWN_ROWS ? html`<template>${lines.slice(SHOWN_ROWS)}</template>` : ''}</tbody>${foot}</table></div>
`
  return html`${body}${rows.length > SHOWN_ROWS ? shownNote(rows.length, text) : ''}${rows.length < count ? html`<p class="note">${text.plain(text.messages.table.onPage, { shown: text.number(rows.length), all: text.number(count) })}</p>` : ''}`
}

const shownNote = (all: number, text: Text): Html =>
  html`<p class="note shown">${text.plain(text.messages.table.shown, { shown: SHOWN_ROWS, all: text.number(all) })} <button type="button" data-do="all">${text.messages.table.all}</button></p>`

function cellHtml({ html: content, exact, isNumber, isText }: Cell, at: number): Html {
  const value = exact === undefined ? '' : html` data-v="${exact}"`.text
  const tag = at === 0 ? 'th scope="row"' : 'td'
  const kind = isNumber ? ' class="number"' : isText ? ' class="text"' : ''
  return new Html(`<${tag}${kind}${value}>${content.text}</${at === 0 ? 'th' : 'td'}>`)
}

export const textCell = (text: string): Cell => ({ html: html`${text}` })
/** Text that may wrap, such as a sentence. */
export const longCell = (content: Html | string): Cell => ({ html: html`${content}`, isText: true })
/** The cell of a total that has no meaning. */
export const EMPTY_CELL: Cell = { html: html`` }

export const countCell = (count: number, text: Text): Cell => ({
  html: html`${text.number(count)}`,
  exact: String(count),
  isNumber: true,
})

/** An amount, in smallest units if `decimals` is null. */
export const amountCell = (value: bigint, decimals: number | null, text: Text): Cell => ({
  html: text.amount(value, decimals),
  exact: exactAmount(value, decimals),
  isNumber: true,
})

/** A fiat value in units of 10^-8; a dash if there is no price. */
export const moneyCell = (value: bigint | null | undefined, text: Text): Cell => ({
  html: text.money(value ?? null),
  exact: value == null ? '' : (shiftDecimal(String(value), FIAT_DECIMALS) ?? ''),
  isNumber: true,
})
