import type { Asset } from '../../core/model/asset.ts'

/** The columns that name a wallet and one of its assets, in every list of balances. */
export function balanceColumns(
  { wallet, type, address, symbol, tokenId }: Asset & { wallet: string; symbol: string | null },
  label: string | null,
) {
  return {
    wallet_address: wallet,
    wallet_label: label,
    asset_type: type,
    asset_address: address,
    asset_symbol: symbol,
    token_id: tokenId,
  }
}
