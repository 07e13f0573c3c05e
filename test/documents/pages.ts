import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** The text of a page, by its path in the repository. */
export const pageAt = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** What stands under a heading, up to the next one of its level or above. Throws where there is no such heading. */
export function sectionOf(page: string, heading: string): string {
  const [, after] = `\n${page}`.split(`\n${heading}\n`)
  if (after === undefined) throw new Error(`no heading "${heading}"`)
  const level = heading.indexOf(' ')
  // Comments of a shell look like headings: blocks are passed over.
  const isHeading = new RegExp(`^(?:\`\`\`[\\s\\S]*?^\`\`\`$)|^#{1,${level}} `, 'gm')
  for (const { 0: found, index } of after.matchAll(isHeading))
    if (found.startsWith('#')) return after.slice(0, index)
  return after
}

/** The fenced blocks of a page, each with its language. */
export function blocksOf(page: string): { language: string; text: string }[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

/** Each block of that language with the `text` block that follows it: what it prints. */
export function examplesOf(page: string, language: string): { code: string; prints: string }[] {
  const blocks = blocksOf(page)
  return blocks.flatMap((block, at) =>
    block.language === language && blocks[at + 1]?.language === 'text'
      ? [{ code: block.text, prints: blocks[at + 1]?.text ?? '' }]
      : [],
  )
}

/** The rows of the first table of a text, its head left out, each as its cells without the outer bars. */
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
