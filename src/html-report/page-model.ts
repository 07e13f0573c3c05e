import type { Html } from './html.ts'

/** One export as it stands on a page. */
export type Article = {
  title: string
  chain: string
  /** What is in it, in a few words. */
  told: string
  /** Rows that the page holds of it. */
  rows: number
  /** What its figures do not say. */
  limits: readonly string[]
  /** Its sections, and what the page's script needs for them; `at` tells exports of one page apart. */
  sectionsAt(at: number): readonly Html[]
  dataAt(at: number): string
}
