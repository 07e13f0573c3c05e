/** Gathers the values of an option that may stand several times. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}
