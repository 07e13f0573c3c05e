import { balances } from '../ledger/balances/balances.ts'
import type { TokenNames } from './names/tickers.ts'

export const NO_SPAM: ReadonlyMap<string, string> = new Map()

/** Returns the reason for omitting its movements, by the contract of each flagged token without a ticker. */
export async function readSpam(output: string, tickers: TokenNames): Promise<ReadonlyMap<string, string>> {
  const { flagged } = await balances(output)
  return new Map(
    flagged
      .filter(({ asset_address }) => !tickers.has(asset_address))
      .map(({ asset_address, flags }) => [
        asset_address,
        `spam: ${flags.map(({ rule }) => rule).join(', ')}`,
      ]),
  )
}
