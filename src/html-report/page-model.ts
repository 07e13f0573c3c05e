import type { Html } from './html.ts'

/** One export on a page. */
export type PageModel = {
  title: string
  chain: string
  /** Short description for the table of contents. */
  summary: string
  /** Number of ledger rows that the page contains. */
  rows: number
  /** Limitations of its figures, as sentences. */
  limits: readonly string[]
  /** Renders the sections. `at` is the index of the export on the page. */
  renderSections(at: number): readonly Html[]
  /** Renders the script elements with the data that the page's script needs for the sections. */
  renderData(at: number): string
}
