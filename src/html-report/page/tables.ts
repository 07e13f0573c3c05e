import type { PageMessages } from './messages.ts'
import { saveCsv } from './save-csv.ts'

/** Makes column headers sort their table, and adds a button that saves it as CSV. */
export function enhanceTables(part: ParentNode, { table: texts }: Pick<PageMessages, 'table'>): void {
  for (const table of part.querySelectorAll('table')) {
    const headers = [...table.querySelectorAll('thead th')]
    for (const [at, header] of headers.entries()) {
      const button = newButton(header.textContent ?? '')
      button.addEventListener('click', () => sortBy(table, headers, at))
      header.replaceChildren(button)
    }
    table
      .closest('.scroll')
      ?.nextElementSibling?.querySelector('[data-do=all]')
      ?.addEventListener('click', () => showAll(table))
    const { caption } = table
    if (caption === null) continue
    const name = caption.textContent ?? ''
    const save = newButton(texts.csv)
    save.title = `${texts.csv}: ${name}`
    save.ariaLabel = save.title
    save.addEventListener('click', () => saveCsv(name, textsOf(table)))
    caption.append(' ', save)
  }
}

function newButton(text: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = text
  return button
}

/** The exact text of a cell. */
const textOf = (cell: HTMLTableCellElement | undefined): string => cell?.dataset.v ?? cell?.textContent ?? ''

function textsOf(table: HTMLTableElement): string[][] {
  const hidden = table.querySelector('template')?.content.querySelectorAll('tr') ?? []
  const rows = [...table.rows]
  const body = rows.filter((row) => row.parentElement !== table.tFoot)
  return [...body, ...hidden, ...(table.tFoot?.rows ?? [])].map((row) => [...row.cells].map(textOf))
}

/** Shows the hidden rows of a table, and removes the note about them. */
function showAll(table: HTMLTableElement): void {
  const hidden = table.querySelector('template')
  if (hidden === null) return
  hidden.replaceWith(hidden.content)
  table.closest('.scroll')?.nextElementSibling?.remove()
}

/** Shows all rows of all tables before the page is printed: totals on paper must be those of the lines above them. */
export function printAllRows(): void {
  addEventListener('beforeprint', () => {
    for (const table of document.querySelectorAll<HTMLTableElement>('table:not(.data table)')) showAll(table)
  })
}

/** Descending at the first click, reversed at each further one. */
function sortBy(table: HTMLTableElement, headers: readonly Element[], at: number): void {
  const isAscending = headers[at]?.getAttribute('aria-sort') === 'descending'
  for (const header of headers) header.removeAttribute('aria-sort')
  headers[at]?.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending')
  const [body] = table.tBodies
  if (body === undefined) return
  showAll(table)
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(textOf(row.cells[at])) }))
  rows.sort((a, b) => (isAscending ? 1 : -1) * compare(a.key, b.key))
  for (const { row } of rows) body.append(row)
}

function keyOf(text: string): number | string {
  const number = Number(text.replace(/ units$/, ''))
  return text === '' || Number.isNaN(number) ? text.toLowerCase() : number
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  // Texts sort below numbers.
  if (typeof a !== typeof b) return typeof a === 'number' ? 1 : -1
  return a < b ? -1 : a > b ? 1 : 0
}
