import type { Html } from './html.ts'

/** One export as it stands on a page. */
export type PageModel = {
  title: string
  chain: string
  /** What is in it, in a few words. */
  summary: string
  /** Rows that the page holds of it. */
  rows: number
  /** What its figures do not say. */
  limits: readonly string[]
  /** Its sections, and what the page's script needs for them; `at` tells exports of one page apart. */
  renderSections(at: number): readonly Html[]
  renderData(at: number): string
}
