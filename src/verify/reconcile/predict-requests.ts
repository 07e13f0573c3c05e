import type { LedgerWallet } from './ledger-sums.ts'
import { CONTRACTS_PER_REQUEST } from './service-balances.ts'

/** The number of requests that comparing these wallets takes at least: with full pages, and without differences. */
export function predictRequests(wallets: readonly LedgerWallet[]): number {
  return wallets.reduce((sum, wallet) => sum + requestsOf(wallet), 0)
}

function requestsOf({ sums, fromBlock }: LedgerWallet): number {
  const countOf = (kind: string) => sums.filter(({ type }) => type === kind).length
  const atBlock = 1 + Math.ceil(countOf('erc20') / CONTRACTS_PER_REQUEST) + Math.min(1, countOf('erc1155'))
  if (fromBlock > 0) return 2 * atBlock
  // Whether a transaction followed, and the NFTs.
  return atBlock + (countOf('erc721') > 0 ? 2 : 0)
}
