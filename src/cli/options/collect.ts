/** Gathers the values of an option that may stand several times. */
export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value]
}
