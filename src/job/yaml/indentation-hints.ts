/** A line's text and where it begins. */
export type YamlLine = { readonly text: string; readonly offset: number }

/** A line and its neighbours, which all say something. */
type LineContext = {
  readonly line: YamlLine
  readonly above: readonly YamlLine[]
  readonly below: YamlLine | undefined
}

/** A line that stands in another column than it belongs. */
type IndentationHint = { readonly offset: number; readonly found: string; readonly expected: string }

/** The lines of a text that say something; `from` is added to their offsets. */
export function contentLines(text: string, from: number): YamlLine[] {
  const lines = [...text.matchAll(/^[ \t]*[^\s#].*$/gm)]
  return lines.map((match) => ({ text: match[0].trimEnd(), offset: from + match.index }))
}

/** An item of a list belongs under the one above it. */
export function misplacedItem({ line, above }: LineContext): IndentationHint | undefined {
  const other = above.at(-1)
  if (other === undefined || !isItem(line) || !isItem(other)) return undefined
  return indentationHint({ line, other, description: '"- "' })
}

/**
 * A key belongs under one that has a value beside it, or further left under one that a list or section stands below.
 */
export function misplacedKey({ line, above, below }: LineContext): IndentationHint | undefined {
  const other = above.at(-1)
  if (other !== undefined && isKey(line) && isKey(other)) {
    const [indent, expectedIndent] = [indentOf(line), indentOf(other)]
    const isMisindented =
      indent > expectedIndent ? isPair(other) : above.every((each) => indentOf(each) !== indent)
    if (indent !== expectedIndent && isMisindented)
      return indentationHint({ line, other, description: 'a key' })
  }
  if (below === undefined || !isKey(line) || !isPair(line) || !isKey(below)) return undefined
  if (indentOf(below) <= indentOf(line)) return undefined
  return indentationHint({ line: below, other: line, description: 'a key' })
}

type MisplacedLine = { line: YamlLine; other: YamlLine; description: string }

function indentationHint({ line, other, description }: MisplacedLine): IndentationHint | undefined {
  const [indent, expectedIndent] = [indentOf(line), indentOf(other)]
  if (indent === expectedIndent) return undefined
  const found = `${description} after ${indent} space${indent === 1 ? '' : 's'}`
  return { offset: line.offset + indent, found, expected: `${expectedIndent}, as in the line above` }
}

/** Whether a line begins an item of a list. */
export function isItem({ text }: YamlLine): boolean {
  return /^ *- /.test(text)
}

/** A key, be it the first of a list's item. */
function isKey({ text }: YamlLine): boolean {
  return /^ *(- +)?["']?[\w$]+["']?:(\s|$)/.test(text)
}

function isPair({ text }: YamlLine): boolean {
  return /:\s+[^\s#]/.test(text)
}

/** Columns before a line's key or text; of an item's first key those up to it. */
function indentOf({ text }: YamlLine): number {
  return /^ *(- +(?=["']?[\w$]+["']?:(\s|$)))?/.exec(text)?.[0].length ?? 0
}
