import type { Document } from 'yaml'
import type { YamlContext } from './compose-raw-values.ts'
import { hintFor } from './yaml-hints.ts'

/**
 * Reports the errors and warnings of the YAML parser. Returns whether there were any.
 *
 * If common mistakes explain some errors, only their hints are reported, at most one per line, because other errors tend to
 * be consequences. Otherwise the first error at each offset is reported. The messages of the parser are never shown,
 * because they quote the text, which may contain a key.
 */
export function reportYamlError(document: Document.Parsed, yaml: YamlContext, text: string): boolean {
  const errors = [...document.errors, ...document.warnings]
  const seen = new Set<number>()
  const shownErrors = errors.filter(
    ({ pos: [offset] }) => seen.size < MAX_SHOWN_ERRORS && !seen.has(offset) && seen.add(offset),
  )
  const hints = shownErrors.flatMap((error) => hintFor(error, document, text) ?? [])
  const reportedLines = new Set<string>()
  for (const { offset, ...message } of hints) {
    const location = yaml.locationAt(offset)
    const line = 'line' in location ? String(location.line) : ''
    if (!reportedLines.has(line)) yaml.report({ location, ...message })
    reportedLines.add(line)
  }
  if (hints.length > 0) return true
  for (const { code, pos } of shownErrors) {
    const found = ERROR_DESCRIPTIONS[code] ?? 'broken text'
    yaml.report({
      location: yaml.locationAt(pos[0]),
      found: `${found} (${code})`,
      expected: 'valid YAML or JSON',
    })
  }
  return shownErrors.length > 0
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
