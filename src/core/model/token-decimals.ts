/** The decimals in the rows of each token, by contract, or by contract and id (`0x…/7`) of an ERC-1155 token. */
export type TokenDecimals = Readonly<Record<string, readonly number[]>>

/** A token and the decimals of a row. Rows without decimals contradict no other. */
export type DecimalsOfRow = readonly [token: string, decimals: number]

/** Unites the decimals of several parts of an export. */
export function uniteDecimals(parts: readonly (TokenDecimals | undefined)[]): TokenDecimals {
  const united: Record<string, number[]> = {}
  for (const part of parts)
    for (const [token, decimals] of Object.entries(part ?? {}))
      united[token] = [...new Set([...(united[token] ?? []), ...decimals])].sort((a, b) => a - b)
  return united
}

/** The decimals of these rows by token. */
export function groupDecimals(rows: readonly DecimalsOfRow[]): TokenDecimals {
  const grouped = new Map<string, Set<number>>()
  for (const [token, decimals] of rows) {
    const ofToken = grouped.get(token)
    if (ofToken === undefined) grouped.set(token, new Set([decimals]))
    else ofToken.add(decimals)
  }
  return Object.fromEntries([...grouped].map(([token, decimals]) => [token, [...decimals]]))
}

/** The number of contracts whose rows disagree on the decimals of a token. */
export function countDecimalsConflicts(tokens: TokenDecimals): number {
  const conflicting = Object.entries(tokens).filter(([, decimals]) => decimals.length > 1)
  return new Set(conflicting.map(([token]) => token.split('/')[0])).size
}
