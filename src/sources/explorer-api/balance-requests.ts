import type { WalletAssets } from '../source.ts'
import type { Dialect } from './dialect.ts'
import { LISTING_NAMES } from './item.ts'

/**
 * The requests of a wallet's balances: one per asset and, for those of which only current ones are known, one per listing,
 * to find out whether a transaction followed.
 */
export function balanceRequests(dialect: Dialect, { fromBlock, countOf }: WalletAssets): number {
  if (dialect.balanceAtBlock === undefined) return 1 + countOf('erc20') + LISTING_NAMES.length
  return (fromBlock > 0 ? 2 : 1) + (countOf('erc20') > 0 ? countOf('erc20') + LISTING_NAMES.length : 0)
}
