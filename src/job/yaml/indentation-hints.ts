/** A line's text and where it begins. */
export type Line = { readonly text: string; readonly offset: number }

/** A line and its neighbours, which all say something. */
type Lines = { readonly line: Line; readonly above: readonly Line[]; readonly below: Line | undefined }

/** A line that stands in another column than it belongs. */
type Misplaced = { readonly offset: number; readonly found: string; readonly expected: string }

/** The lines of a text that say something; `from` is added to their offsets. */
export function linesOf(text: string, from: number): Line[] {
  const lines = [...text.matchAll(/^[ \t]*[^\s#].*$/gm)]
  return lines.map((match) => ({ text: match[0].trimEnd(), offset: from + match.index }))
}

/** An item of a list belongs under the one above it. */
export function misplacedItem({ line, above }: Lines): Misplaced | undefined {
  const other = above.at(-1)
  if (other === undefined || !isItem(line) || !isItem(other)) return undefined
  return misplaced({ line, other, what: '"- "' })
}

/**
 * A key belongs under one that has a value beside it, or further left under one that a list or section stands below.
 */
export function misplacedKey({ line, above, below }: Lines): Misplaced | undefined {
  const other = above.at(-1)
  if (other !== undefined && isKey(line) && isKey(other)) {
    const [indent, wanted] = [indentOf(line), indentOf(other)]
    const isStray = indent > wanted ? isPair(other) : above.every((each) => indentOf(each) !== indent)
    if (indent !== wanted && isStray) return misplaced({ line, other, what: 'a key' })
  }
  if (below === undefined || !isKey(line) || !isPair(line) || !isKey(below)) return undefined
  if (indentOf(below) <= indentOf(line)) return undefined
  return misplaced({ line: below, other: line, what: 'a key' })
}

type Pair = { line: Line; other: Line; what: string }

function misplaced({ line, other, what }: Pair): Misplaced | undefined {
  const [indent, wanted] = [indentOf(line), indentOf(other)]
  if (indent === wanted) return undefined
  const found = `${what} after ${indent} space${indent === 1 ? '' : 's'}`
  return { offset: line.offset + indent, found, expected: `${wanted}, as in the line above` }
}

/** Whether a line begins an item of a list. */
export function isItem({ text }: Line): boolean {
  return /^ *- /.test(text)
}

/** A key, be it the first of a list's item. */
function isKey({ text }: Line): boolean {
  return /^ *(- +)?["']?[\w$]+["']?:(\s|$)/.test(text)
}

function isPair({ text }: Line): boolean {
  return /:\s+[^\s#]/.test(text)
}

/** Columns before a line's key or text; of an item's first key those up to it. */
function indentOf({ text }: Line): number {
  return /^ *(- +(?=["']?[\w$]+["']?:(\s|$)))?/.exec(text)?.[0].length ?? 0
}
