import { csvLine } from '../../core/platform/csv-line.ts'
import { formatCount, formatNumber } from '../numbers.ts'
import type { PackedColumn } from '../page-data.ts'
import { visibleText } from '../visible-text.ts'
import { createRowFilter } from './filter-rows.ts'

/** Height of a row; must equal the height in the style sheet. */
const ROW_PIXELS = 26
/**
 * Browsers limit the height of an element to about this. In longer lists, one pixel of scrolling skips several rows.
 */
const MAX_PIXELS = 12_000_000

/** Opens the row list of a section: unpacks the rows and renders the visible ones. */
export async function openRowList(section: HTMLElement): Promise<void> {
  const packed = document.getElementById(section.dataset.rows ?? '')?.textContent ?? ''
  const columns = JSON.parse(await inflate(packed)) as PackedColumn[]
  new RowList(section, columns).show()
}

async function inflate(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream).text()
}

class RowList {
  readonly #columns: readonly PackedColumn[]
  readonly #name: string
  readonly #list: HTMLElement
  readonly #space: HTMLElement
  readonly #status: HTMLOutputElement | null
  readonly #all: Int32Array
  #found: Int32Array
  #current = 0

  constructor(section: HTMLElement, columns: readonly PackedColumn[]) {
    this.#columns = columns
    this.#name = section.dataset.rows ?? ''
    this.#list = section.querySelector('.list') as HTMLElement
    this.#space = section.querySelector('.space') as HTMLElement
    this.#status = section.querySelector('output')
    const count = columns[0]?.indexes.length ?? 0
    // Newest first.
    this.#all = Int32Array.from({ length: count }, (_, at) => count - 1 - at)
    this.#found = this.#all
    this.#list.addEventListener('scroll', () => this.show())
    this.#list.addEventListener('keydown', (event) => this.#move(event))
    const search = section.querySelector('input')
    search?.addEventListener('input', () => this.#search(search.value))
    section.querySelector('[data-do=copy]')?.addEventListener('click', () => void this.#copy())
    section.querySelector('[data-do=save]')?.addEventListener('click', () => this.#save())
  }

  /** Renders the visible rows. */
  show(): void {
    const { length } = this.#found
    const totalHeight = Math.min(MAX_PIXELS, length * ROW_PIXELS)
    this.#space.style.height = `${totalHeight}px`
    this.#list.setAttribute('aria-rowcount', String(length + 1))
    const visibleRows = Math.ceil(this.#list.clientHeight / ROW_PIXELS) + 2
    const scrollRange = Math.max(1, totalHeight - this.#list.clientHeight)
    const share = Math.min(1, this.#list.scrollTop / scrollRange)
    const first = Math.max(0, Math.floor(share * Math.max(0, length - visibleRows + 2)))
    const rows = [...this.#found.subarray(first, first + visibleRows)].map((row, at) =>
      this.#rowOf(row, first + at),
    )
    const top = Math.min(this.#list.scrollTop, Math.max(0, totalHeight - visibleRows * ROW_PIXELS))
    for (const [at, row] of rows.entries()) row.style.transform = `translateY(${top + at * ROW_PIXELS}px)`
    this.#space.replaceChildren(...rows)
    this.#announceCurrent()
    if (this.#status !== null) this.#status.textContent = formatCount(length, 'row')
  }

  #rowOf(row: number, at: number): HTMLElement {
    const line = document.createElement('div')
    line.id = this.#idOf(at)
    line.className = at === this.#current ? 'row current' : 'row'
    line.setAttribute('role', 'row')
    line.setAttribute('aria-rowindex', String(at + 2))
    for (const text of this.#cells(row)) {
      const cell = document.createElement('span')
      cell.setAttribute('role', 'gridcell')
      cell.textContent = formatNumber(visibleText(text))
      cell.title = visibleText(text)
      line.append(cell)
    }
    return line
  }

  /** Announces the current row to screen readers while it is rendered. The list itself keeps the focus. */
  #announceCurrent(): void {
    const id = this.#idOf(this.#current)
    if (document.getElementById(id) === null) this.#list.removeAttribute('aria-activedescendant')
    else this.#list.setAttribute('aria-activedescendant', id)
  }

  #idOf(at: number): string {
    return `${this.#name}-${at}`
  }

  #cells(row: number): string[] {
    return this.#columns.map(({ texts, indexes }) => texts[indexes[row] ?? 0] ?? '')
  }

  #search(search: string): void {
    const kinds = ['kind', 'way'].map((name) => this.#headers().indexOf(name))
    this.#found =
      search.trim() === '' ? this.#all : this.#all.filter(createRowFilter(this.#columns, { search, kinds }))
    this.#current = 0
    this.#list.scrollTop = 0
    this.show()
  }

  #move(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.#list.clientHeight / ROW_PIXELS) - 2)
    const end = this.#found.length - 1
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -end, End: end }[event.key]
    if (step === undefined) return
    event.preventDefault()
    this.#current = Math.min(end, Math.max(0, this.#current + step))
    const totalHeight = Math.min(MAX_PIXELS, this.#found.length * ROW_PIXELS)
    const scrollRange = Math.max(1, totalHeight - this.#list.clientHeight)
    this.#list.scrollTop =
      end < page ? 0 : (Math.max(0, this.#current - page / 2) / Math.max(1, end - page)) * scrollRange
    this.show()
  }

  #csv(): string {
    const lines = [...this.#found].map((row) => csvLine(this.#cells(row).map((text) => text || null)))
    return csvLine(this.#headers()) + lines.join('')
  }

  #headers(): string[] {
    return [...this.#list.querySelectorAll('[role=columnheader]')].map((header) => header.textContent ?? '')
  }

  async #copy(): Promise<void> {
    await navigator.clipboard.writeText(this.#csv()).then(
      () => this.#showMessage('copied'),
      () => this.#showMessage('the browser blocked copying: save the rows as CSV instead'),
    )
  }

  #save(): void {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([this.#csv()], { type: 'text/csv' }))
    link.download = 'rows.csv'
    link.click()
    URL.revokeObjectURL(link.href)
  }

  #showMessage(message: string): void {
    if (this.#status !== null) this.#status.textContent = message
  }
}
