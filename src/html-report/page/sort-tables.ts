/** Makes column headers sort their table: descending at the first click, reversed at each further one. */
export function sortTables(page: Document): void {
  for (const table of page.querySelectorAll<HTMLTableElement>('table.sortable')) {
    const headers = [...table.querySelectorAll('thead th')]
    for (const [at, header] of headers.entries())
      header.querySelector('button')?.addEventListener('click', () => sortBy(table, headers, at))
  }
}

function sortBy(table: HTMLTableElement, headers: readonly Element[], at: number): void {
  const isAscending = headers[at]?.getAttribute('aria-sort') === 'descending'
  for (const header of headers) header.removeAttribute('aria-sort')
  headers[at]?.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending')
  const body = table.tBodies[0]
  if (body === undefined) return
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[at]) }))
  const sign = isAscending ? 1 : -1
  rows.sort((a, b) => sign * compare(a.key, b.key))
  for (const { row } of rows) body.append(row)
}

function keyOf(cell: HTMLTableCellElement | undefined): number | string {
  const text = cell?.dataset.v ?? cell?.textContent ?? ''
  const number = Number(text)
  return text === '' || Number.isNaN(number) ? text.toLowerCase() : number
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  // Texts sort below numbers.
  if (typeof a !== typeof b) return typeof a === 'number' ? 1 : -1
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}
