/** The text of a line and its offset in the file. */
export type YamlLine = { readonly text: string; readonly offset: number }

/** A line and its neighbours, without blank lines and comments. */
type LineContext = {
  readonly line: YamlLine
  readonly above: readonly YamlLine[]
  readonly below: YamlLine | undefined
}

/** A line with wrong indentation. */
type IndentationHint = { readonly offset: number; readonly found: string; readonly expected: string }

/** Returns the lines of a text that are neither blank nor comments. `from` is added to their offsets. */
export function contentLines(text: string, from: number): YamlLine[] {
  const lines = [...text.matchAll(/^[ \t]*[^\s#].*$/gm)]
  return lines.map((match) => ({ text: match[0].trimEnd(), offset: from + match.index }))
}

/** Finds a list item whose indentation differs from that of the item above it. */
export function misplacedItem({ line, above }: LineContext): IndentationHint | undefined {
  const other = above.at(-1)
  if (other === undefined || !isItem(line) || !isItem(other)) return undefined
  return indentationHint({ line, other, description: '"- "' })
}

/**
 * Finds a key with wrong indentation. A key must not be indented further than a `key: value` line above it. A key that is
 * indented less than the line above must match the indentation of an earlier line.
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

/** Whether a line starts a list item. */
export function isItem({ text }: YamlLine): boolean {
  return /^ *- /.test(text)
}

/** Whether a line starts with a key, possibly after the dash of a list item. */
function isKey({ text }: YamlLine): boolean {
  return /^ *(- +)?["']?[\w$]+["']?:(\s|$)/.test(text)
}

function isPair({ text }: YamlLine): boolean {
  return /:\s+[^\s#]/.test(text)
}

/** Number of columns before the key or text of a line. For the first key of a list item, this includes the dash. */
function indentOf({ text }: YamlLine): number {
  return /^ *(- +(?=["']?[\w$]+["']?:(\s|$)))?/.exec(text)?.[0].length ?? 0
}
