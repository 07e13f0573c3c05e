/** The message of an error; an error for several addresses has none of its own. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '')
    return thrown.errors.map(errorMessage).join(', ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}
