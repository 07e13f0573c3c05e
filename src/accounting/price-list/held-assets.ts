import { isNft } from '../../core/model/asset.ts'
import { type Balance, balances } from '../../ledger/balances/balances.ts'
import type { OpeningOption } from '../../ledger/balances/read-opening.ts'
import type { Asset } from '../movement.ts'
import { instantBefore, type Period } from '../period.ts'

/** An asset that a wallet holds at a time, in the format of the tables. */
type HeldAsset = { asset: Asset; time: string }

/**
 * Returns the coins and tokens that the wallets hold at the last instants before the period and of it. A period without an
 * end ends with the newest row.
 */
export async function heldAssets(
  output: string,
  { period: { from, to }, opening }: { period: Period; opening?: OpeningOption },
): Promise<HeldAsset[]> {
  const before = from === '' ? undefined : instantBefore(from)
  const until = to === '9999' ? undefined : instantBefore(to)
  const start = before === undefined ? undefined : await balances(output, { at: before, opening })
  const end = await balances(output, { at: until, opening })
  return [
    ...(start?.balances ?? []).flatMap((balance) => heldAt(balance, before)),
    ...end.balances.flatMap((balance) => heldAt(balance, until ?? end.newest?.time)),
  ]
}

/** Returns nothing for NFTs and for tokens without decimals, which have no price. */
function heldAt(balance: Balance, time: string | undefined): HeldAsset[] {
  const { asset_type: type, asset_address: address, asset_symbol: symbol, asset_decimals: decimals } = balance
  if (time === undefined || decimals === null || isNft({ type })) return []
  return [{ asset: { type: type as Asset['type'], address, tokenId: null, symbol, decimals }, time }]
}
