/**
 * Finds the known word that a misspelt word most likely means; undefined if none is similar.
 *
 * Letter case, `-`, `_` and whitespace are ignored. The edit distance may be a third of the known word's
 * length (at least 2, and at most its length minus 2).
 */
export function suggest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined
  const normalized = normalizeWord(word)
  const ranked = known
    .map((name) => ({ name, distance: editDistance(normalized, normalizeWord(name)) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best !== undefined && best.distance <= tolerance(best.name) ? best.name : undefined
}

const MAX_WORD_LENGTH = 64

function tolerance(name: string): number {
  return Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 2)
}

/** Normalizes a word: lower case, without `-`, `_` and whitespace. */
export function normalizeWord(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '')
}

/** Levenshtein distance: the number of insertions, deletions and replacements. */
function editDistance(a: string, b: string): number {
  let previousRow = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const currentRow = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(previousRow, column - 1) + Number(a[row - 1] !== b[column - 1])
      currentRow.push(Math.min(replaced, at(previousRow, column) + 1, at(currentRow, column - 1) + 1))
    }
    previousRow = currentRow
  }
  return at(previousRow, b.length)
}

function at(distances: readonly number[], column: number): number {
  return distances[column] ?? Number.POSITIVE_INFINITY
}
