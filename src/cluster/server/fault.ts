/** Codes of a server that starts, stops, or has no room for a connection; and of a transaction to be done again. */
const AWAY = /^(08|40|57P|53300)/
/** Codes of tables, schemas, functions and types that are not there. */
const MISSING = /^(42P01|3F000|42883|42704)$/

/** Whether something else may come of a query later: the server could not be reached, or was not ready. */
export function isAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code } = thrown as { code?: unknown }
  if (thrown instanceof AggregateError) return thrown.errors.every(isAway)
  if (typeof code === 'string') return AWAY.test(code) || /^E[A-Z_]+$/.test(code)
  return /terminated|not queryable|timeout/i.test(thrown.message)
}

/** Whether the database has lost what we put there. */
export function isEmptied(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return typeof code === 'string' && MISSING.test(code)
}

/** What an error says; one of several addresses says nothing itself. */
export function wordsOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(wordsOf).join(', ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}
