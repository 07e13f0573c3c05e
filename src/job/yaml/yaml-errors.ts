import { type Document, isCollection, isScalar, type Node, visit, type YAMLError } from 'yaml'

/** A mistake in the text of a job, in the form of a diagnostic. It never quotes the text, which may contain a key. */
type YamlMistake = { readonly offset: number; readonly found: string; readonly expected: string }

/**
 * Describes the errors and warnings of the YAML parser, if there are any.
 *
 * If common mistakes explain some errors, only their hints are returned, at most one per line, because other errors tend to
 * be consequences. Otherwise the first error at each offset is described. The messages of the parser are never shown,
 * because they quote the text.
 */
export function describeErrors(document: Document.Parsed, text: string): readonly YamlMistake[] {
  const byOffset = new Map<number, YAMLError>()
  for (const error of [...document.errors, ...document.warnings])
    if (!byOffset.has(error.pos[0])) byOffset.set(error.pos[0], error)
  const shown = [...byOffset.values()].slice(0, MAX_SHOWN_ERRORS)
  const hints = shown.flatMap((error) => hintFor(error, document, text) ?? [])
  if (hints.length === 0)
    return shown.map(({ code, pos: [offset] }) => ({
      offset,
      found: `${ERROR_DESCRIPTIONS[code] ?? 'broken text'} (${code})`,
      expected: 'valid YAML or JSON',
    }))
  const byLine = new Map(hints.toReversed().map((hint) => [lineStart(text, hint.offset), hint]))
  return [...byLine.values()]
}

const MAX_SHOWN_ERRORS = 20

const ERROR_DESCRIPTIONS: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'a broken anchor or alias',
  BAD_COLLECTION_TYPE: 'a tag that does not fit',
  BAD_DIRECTIVE: 'an unknown % directive',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes',
  BAD_INDENT: 'wrong indentation or an unclosed bracket',
  BAD_PROP_ORDER: 'a tag or anchor in the wrong place',
  BAD_SCALAR_START: 'an unquoted value that starts with a reserved character',
  BLOCK_AS_IMPLICIT_KEY: 'a second `:` on one line (quote the text)',
  BLOCK_IN_FLOW: 'an indented list or mapping inside brackets',
  IMPOSSIBLE: 'broken text',
  KEY_OVER_1024_CHARS: 'a key of more than 1,024 characters',
  MISSING_CHAR: 'a missing colon, comma, quote, space or bracket',
  MULTILINE_IMPLICIT_KEY: 'a key over several lines',
  MULTIPLE_ANCHORS: 'two anchors on one value',
  MULTIPLE_TAGS: 'two tags on one value',
  NON_STRING_KEY: 'a key that is not text',
  TAB_AS_INDENT: 'a tab as indentation (use spaces)',
  TAG_RESOLVE_FAILED: 'a tag (!…), which a job does not have',
  UNEXPECTED_TOKEN: 'something unexpected',
}

const lineStart = (text: string, offset: number) => text.lastIndexOf('\n', offset - 1) + 1

type YamlLine = { readonly text: string; readonly offset: number }
type ErrorContext = {
  readonly code: string
  /** Message of the parser; never shown, because it quotes the text. */
  readonly message: string
  readonly offset: number
  readonly document: Document.Parsed
  readonly char: string
  readonly line: YamlLine
  /** The lines above, without blank lines and comments, and the next such line below. */
  readonly above: readonly YamlLine[]
  readonly below: YamlLine | undefined
}

/** Returns the common mistake behind an error of the parser, or undefined if no rule matches. */
function hintFor({ code, pos: [offset], message }: YAMLError, document: Document.Parsed, text: string) {
  const start = lineStart(text, offset)
  const end = text.indexOf('\n', offset)
  const context: ErrorContext = {
    code,
    message,
    offset,
    document,
    char: text[offset] ?? '',
    line: { text: text.slice(start, end === -1 ? undefined : end).trimEnd(), offset: start },
    above: contentLines(text.slice(0, start), 0),
    below: end === -1 ? undefined : contentLines(text.slice(end + 1), end + 1)[0],
  }
  for (const rule of HINT_RULES) {
    const hint = rule(context)
    if (hint !== undefined) return hint
  }
  return undefined
}

/** Returns the lines of a text that are neither blank nor comments. `from` is added to their offsets. */
function contentLines(text: string, from: number): YamlLine[] {
  const lines = [...text.matchAll(/^[ \t]*[^\s#].*$/gm)]
  return lines.map((match) => ({ text: match[0].trimEnd(), offset: from + match.index }))
}

/** Rules for common mistakes. The first match wins. */
const HINT_RULES: readonly ((context: ErrorContext) => YamlMistake | undefined)[] = [
  noBreakSpace,
  mistakeOfCode,
  unclosedText,
  missingComma,
  misplacedItem,
  missingDash,
  missingSpace,
  misplacedKey,
  ({ code, offset, line }) =>
    code === 'BLOCK_AS_IMPLICIT_KEY' && /:\s.*:(\s|$)/.test(line.text)
      ? { offset, found: 'a second ":" in the line', expected: 'quotes around a text that has ": " in it' }
      : undefined,
  ({ offset, char }) =>
    char === ',' ? { offset, found: 'a "," after the value', expected: 'nothing there' } : undefined,
]

function noBreakSpace({ line }: ErrorContext): YamlMistake | undefined {
  const column = line.text.search(/[\u00a0\u2007\u202f]/)
  if (column === -1) return undefined
  return { offset: line.offset + column, found: 'a no-break space', expected: 'a plain space' }
}

/** The mistake of an error whose code alone says what it is. */
function mistakeOfCode({ code, offset, char }: ErrorContext): YamlMistake | undefined {
  if (code === 'TAB_AS_INDENT') return { offset, found: 'a tab as indentation', expected: 'spaces' }
  if (code === 'BAD_SCALAR_START')
    return { offset, found: `a value that begins with ${char}`, expected: 'quotes around it' }
  if (code !== 'BAD_DQ_ESCAPE') return undefined
  const expected = 'two of them, or single quotes around the text'
  return { offset, found: 'one \\ in double quotes', expected }
}

/** A quote or bracket that is never closed. The mistake is where the innermost one that contains the error opens. */
function unclosedText({ message, document, offset }: ErrorContext): YamlMistake | undefined {
  const [, quote, bracket] = UNCLOSED.exec(message) ?? []
  if (quote === undefined && bracket === undefined) return undefined
  let opened = offset
  visit(document, {
    Node: (_, node) => {
      const [from = 0, , to = 0] = (node as Node).range ?? []
      const isOpen = bracket === undefined ? isScalar(node) && /^QUOTE/.test(node.type ?? '') : isFlow(node)
      if (isOpen && from <= offset && offset <= to) opened = from
    },
  })
  const open = quote ?? (bracket === ']' ? '[' : '{')
  const expected = quote === undefined ? `a ${bracket} after its last entry` : `a ${quote} after the text`
  return { offset: opened, found: `a ${open} that is never closed`, expected }
}

const UNCLOSED = /^Missing closing (["'])|flow (?:sequence|map|collection).* end with (?:a )?([\]}])/i
const isFlow = (node: unknown) => isCollection(node) && node.flow === true

function missingComma({ code, message, line, offset }: ErrorContext): YamlMistake | undefined {
  if (code === 'BLOCK_IN_FLOW' && isItem(line))
    return { offset: line.offset, found: '"- " inside brackets', expected: '"- " or brackets, not both' }
  if (code !== 'BLOCK_IN_FLOW' && !/^Missing , /.test(message)) return undefined
  return { offset, found: 'two entries with nothing between', expected: 'a "," between them' }
}

/** A list item whose indentation differs from that of the item above it. */
function misplacedItem({ line, above }: ErrorContext): YamlMistake | undefined {
  const other = above.at(-1)
  if (other === undefined || !isItem(line) || !isItem(other)) return undefined
  return misplaced(line, other, '"- "')
}

/** A line contains only a value where a list item or a key is expected. */
function missingDash({ code, line }: ErrorContext): YamlMistake | undefined {
  if (code !== 'BAD_INDENT' && code !== 'MISSING_CHAR') return undefined
  if (isItem(line) || /:(\s|$)/.test(line.text)) return undefined
  const offset = line.offset + line.text.search(/\S/)
  return { offset, found: 'a value without "- "', expected: '"- " before each entry of a list' }
}

function missingSpace({ line }: ErrorContext): YamlMistake | undefined {
  const [match] = /^\s*(?:- +)?[\w$]+:(?=[^\s:/])/.exec(line.text) ?? []
  if (match === undefined) return undefined
  const offset = line.offset + match.length - 1
  return { offset, found: '":" without a space', expected: 'a space after it' }
}

/**
 * A key with wrong indentation. A key must not be indented further than a `key: value` line above it. A key that is
 * indented less than the line above must match the indentation of an earlier line.
 */
function misplacedKey({ line, above, below }: ErrorContext): YamlMistake | undefined {
  const other = above.at(-1)
  if (other !== undefined && isKey(line) && isKey(other)) {
    const indent = indentOf(line)
    const isMisindented =
      indent > indentOf(other) ? isPair(other) : above.every((each) => indentOf(each) !== indent)
    if (isMisindented) return misplaced(line, other, 'a key')
  }
  if (below === undefined || !isKey(line) || !isPair(line) || !isKey(below)) return undefined
  return indentOf(below) > indentOf(line) ? misplaced(below, line, 'a key') : undefined
}

function misplaced(line: YamlLine, other: YamlLine, description: string): YamlMistake | undefined {
  const [indent, expectedIndent] = [indentOf(line), indentOf(other)]
  if (indent === expectedIndent) return undefined
  const found = `${description} after ${indent} space${indent === 1 ? '' : 's'}`
  return { offset: line.offset + indent, found, expected: `${expectedIndent}, as in the line above` }
}

/** Whether a line starts a list item. */
const isItem = ({ text }: YamlLine) => /^ *- /.test(text)
/** Whether a line starts with a key, possibly after the dash of a list item. */
const isKey = ({ text }: YamlLine) => /^ *(- +)?["']?[\w$]+["']?:(\s|$)/.test(text)
const isPair = ({ text }: YamlLine) => /:\s+[^\s#]/.test(text)

/** Number of columns before the key or text of a line. For the first key of a list item, this includes the dash. */
function indentOf({ text }: YamlLine): number {
  return /^ *(- +(?=["']?[\w$]+["']?:(\s|$)))?/.exec(text)?.[0].length ?? 0
}
