import type { PackedColumn } from '../page-data.ts'

/** Addresses and hashes, which hold any short word of the letters a to f. */
const HEX = /0x[0-9a-f]{6,}/g

/**
 * Tells which rows have all words of a search, in whatever columns. A word that is a whole text of the column of kinds or
 * of ways (`fee`, also `fees`) stands for that alone. In addresses and hashes a word is looked for only where it begins
 * with `0x`, has 8 letters, or has 4 with a digit among them: otherwise `fee` would find a tenth of all hashes.
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
  // Each text is looked at once, not once a row.
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
