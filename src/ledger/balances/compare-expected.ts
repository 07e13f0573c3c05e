import { assetBalanceKey } from '../../core/model/asset.ts'
import type { Balance, NamedWallet } from './balances.ts'
import { readDeclaredAmounts } from './declared-amounts.ts'

/** A balance that differs from its expected value. */
export type Difference = {
  /** Line number in the file of expected balances. */
  line: number
  wallet_address: string
  asset_type: string
  asset_address: string | null
  token_id: string | null
  /** In the asset's smallest unit. */
  expected: bigint
  /** In the asset's smallest unit; 0 if the wallet has no such balance. */
  found: bigint
}

/**
 * Compares balances with the expected balances in a CSV file. Balances that the file does not list are not checked.
 *
 * @param balances - the result of `balances()`. Call that with `all: true`: decimals of an asset, which amounts in
 * whole units need, are known only if the asset is listed here.
 * @param file - CSV with a header, read by column name: `wallet_address` or `wallet_label`, `asset_type`,
 * `asset_address`, `token_id`, and `value` (smallest unit) or `amount` (whole units)
 * @param wallets - the wallets that the file may name. @default any address, and the labels of `balances`
 * @returns the differences, the number of lines that were compared, and the number of lines without a value and an
 * amount
 * @throws ExportError with the code USAGE if the file cannot be read or a line is invalid
 */
export async function compareExpected(
  balances: readonly Balance[],
  file: string,
  wallets?: readonly NamedWallet[],
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
  const labelled = wallets ?? walletsOf(balances)
  const { amounts, unfilled } = await readDeclaredAmounts(file, {
    labels: labelled.flatMap(({ label }) => label ?? []),
    walletsLabelled: (label) =>
      labelled.filter((wallet) => wallet.label === label).map(({ address }) => address),
    wallets: wallets && {
      addresses: new Set(wallets.map(({ address }) => address)),
      expected: 'the address of a wallet whose balances were computed',
    },
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
