import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** Reads a page by its path in the repository. */
export const pageAt = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Returns the text below a heading, up to the next heading of the same or a higher level. Throws if there is none. */
export function sectionOf(page: string, heading: string): string {
  const [, after] = `\n${page}`.split(`\n${heading}\n`)
  if (after === undefined) throw new Error(`no heading "${heading}"`)
  const level = heading.indexOf(' ')
  // Code blocks are skipped, because shell comments look like headings.
  const isHeading = new RegExp(`^(?:\`\`\`[\\s\\S]*?^\`\`\`$)|^#{1,${level}} `, 'gm')
  for (const { 0: found, index } of after.matchAll(isHeading))
    if (found.startsWith('#')) return after.slice(0, index)
  return after
}

/** Returns the fenced code blocks of a page with their languages. */
export function blocksOf(page: string): { language: string; text: string }[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

/** Returns each code block of a language that a `text` block follows, with that block as its output. */
export function examplesOf(page: string, language: string): { code: string; prints: string }[] {
  const blocks = blocksOf(page)
  return blocks.flatMap((block, at) =>
    block.language === language && blocks[at + 1]?.language === 'text'
      ? [{ code: block.text, prints: blocks[at + 1]?.text ?? '' }]
      : [],
  )
}

/** Returns the cells of the first table's rows, without the header. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => /^\| ?-/.test(line))
  const rows = lines.slice(start + 1)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return (end === -1 ? rows : rows.slice(0, end)).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
}
