import type { PackedColumn } from '../page-data.ts'

/** Addresses and hashes. They contain nearly every short word of the letters a to f. */
const HEX = /0x[0-9a-f]{6,}/g

/**
 * Creates a predicate for rows that contain every word of a search, in any columns.
 *
 * - A word that equals a whole text of one of the `kinds` columns (`fee`, or its plural `fees`) matches only such texts.
 * - Addresses and hashes are searched only for words that start with `0x`, have at least 8 characters, or have at least 4
 *   characters including a digit. Otherwise `fee` would match a tenth of all hashes.
 *
 * @param columns Dictionary-encoded columns of all rows
 * @param options `search` is the user's input, `kinds` are the indexes of the columns with fixed texts
 */
export function createRowFilter(
  columns: readonly PackedColumn[],
  { search, kinds }: { search: string; kinds: readonly number[] },
): (row: number) => boolean {
  const words = search.trim().toLowerCase().split(/\s+/)
  const filters = words.map((word) => createWordFilter(columns, { word, kinds }))
  return (row) => filters.every((matches) => matches(row))
}

function createWordFilter(
  columns: readonly PackedColumn[],
  { word, kinds }: { word: string; kinds: readonly number[] },
): (row: number) => boolean {
  const names = [word, word.replace(/s$/, '')]
  const exact = kinds
    .flatMap((at) => columns[at] ?? [])
    .filter(({ texts }) => texts.some((one) => names.includes(one)))
  const isMatch =
    exact.length > 0 ? (text: string) => names.includes(text) : (text: string) => hasWord(text, word)
  // Each distinct text is tested once, not once per row.
  const columnMatches = (exact.length > 0 ? exact : columns).map(({ texts, indexes }) => ({
    indexes,
    matchFlags: Uint8Array.from(texts, (text) => Number(isMatch(text))),
  }))
  return (row) => columnMatches.some(({ indexes, matchFlags }) => matchFlags[indexes[row] ?? 0] === 1)
}

function hasWord(text: string, word: string): boolean {
  const lower = text.toLowerCase()
  const isHex = word.startsWith('0x') || word.length >= 8 || (word.length >= 4 && /\d/.test(word))
  return (isHex ? lower : lower.replace(HEX, '')).includes(word)
}
