/**
 * The known word that a misspelt one most likely means, or undefined where none is near.
 *
 * Letter case, `-` and `_` do not count; beyond that a third of the letters may differ, two at least.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD) return undefined
  const plain = bare(word)
  const ranked = known
    .map((name) => ({ name, distance: editDistance(plain, bare(name)) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best !== undefined && best.distance <= tolerance(best.name) ? best.name : undefined
}

const LONGEST_WORD = 64

function tolerance(name: string): number {
  return Math.min(Math.max(2, Math.floor(name.length / 3)), name.length - 2)
}

/** A word without letter case, `-`, `_` and blanks. */
export function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, '')
}

/** Levenshtein distance: letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const here = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(above, column - 1) + Number(a[row - 1] !== b[column - 1])
      here.push(Math.min(replaced, at(above, column) + 1, at(here, column - 1) + 1))
    }
    above = here
  }
  return at(above, b.length)
}

function at(distances: readonly number[], column: number): number {
  return distances[column] ?? Number.POSITIVE_INFINITY
}
