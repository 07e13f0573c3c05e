/** The message of an error; an error for several addresses has none of its own. */
export function wordsOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(wordsOf).join(', ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}
