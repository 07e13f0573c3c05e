import type { Balance } from './balances.ts'
import { readAmounts } from './read-amounts.ts'
import { keyOf } from './sums.ts'

/** An amount that is not as it was expected. */
export type Difference = {
  /** Of the file that says what is expected. */
  line: number
  wallet_address: string
  asset_type: string
  asset_address: string | null
  token_id: string | null
  expected: bigint
  /** In the smallest unit; 0 where there is no such balance. */
  found: bigint
}

/**
 * Compares balances with what a CSV file lists (by column name), and with nothing else. Resolves with the differences and
 * how many were compared. Throws USAGE for a mistake in the file.
 */
export async function compareExpected(
  balances: readonly Balance[],
  file: string,
): Promise<{ compared: number; differences: Difference[] }> {
  const values = new Map(
    balances.map(({ wallet_address, asset_type: type, asset_address: address, token_id: tokenId, value }) => [
      keyOf(wallet_address, { type, address, tokenId }),
      value,
    ]),
  )
  const expected = await readAmounts(file)
  const differences = expected.flatMap(({ line, wallet, asset, value }): Difference[] => {
    const named = {
      wallet_address: wallet,
      asset_type: asset.type,
      asset_address: asset.address,
      token_id: asset.tokenId,
    }
    const found = values.get(keyOf(wallet, asset)) ?? 0n
    return found === value ? [] : [{ line, ...named, expected: value, found }]
  })
  return { compared: expected.length, differences }
}
