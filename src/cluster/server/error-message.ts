/**
 * The message of an error. An AggregateError (several addresses) has no message, so those of its errors are
 * joined.
 */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '')
    return thrown.errors.map(errorMessage).join(', ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}
