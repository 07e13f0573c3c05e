import { assetBalanceKey } from './balance-sums.ts'
import type { Balance, NamedWallet } from './balances.ts'
import { readDeclaredAmounts } from './declared-amounts.ts'

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
 * Compares balances with what a CSV file lists (by column name), and with nothing else. The file names wallets by address, or by a
 * label of `wallets`. Resolves with the differences, how many were compared, and how many lines have no amount. Throws USAGE
 * for a mistake in the file.
 */
export async function compareExpected(
  balances: readonly Balance[],
  file: string,
  wallets: readonly NamedWallet[] = walletsOf(balances),
): Promise<{ compared: number; unfilled: number; differences: Difference[] }> {
  const values = new Map(
    balances.map(({ wallet_address, asset_type: type, asset_address: address, token_id: tokenId, value }) => [
      assetBalanceKey(wallet_address, { type, address, tokenId }),
      value,
    ]),
  )
  const decimals = new Map(
    balances.map(({ asset_type: type, asset_address: address, token_id: tokenId, asset_decimals }) => [
      assetBalanceKey('', { type, address, tokenId }),
      asset_decimals,
    ]),
  )
  const { amounts, unfilled } = await readDeclaredAmounts(file, {
    walletsLabelled: (label) =>
      wallets.filter((wallet) => wallet.label === label).map(({ address }) => address),
    decimalsOf: (asset) => decimals.get(assetBalanceKey('', asset)) ?? null,
  })
  const differences = amounts.flatMap(({ line, wallet, asset, value }): Difference[] => {
    const balance = {
      wallet_address: wallet,
      asset_type: asset.type,
      asset_address: asset.address,
      token_id: asset.tokenId,
    }
    const found = values.get(assetBalanceKey(wallet, asset)) ?? 0n
    return found === value ? [] : [{ line, ...balance, expected: value, found }]
  })
  return { compared: amounts.length, unfilled, differences }
}

function walletsOf(balances: readonly Balance[]): NamedWallet[] {
  const labels = new Map(balances.map(({ wallet_address, wallet_label }) => [wallet_address, wallet_label]))
  return [...labels].map(([address, label]) => ({ address, label }))
}
