import type { WalletAssets } from '../source.ts'

/** ERC-20 contracts per request. Each takes 45 characters of the URL. */
export const CONTRACTS_PER_REQUEST = 50

/** The requests of a wallet's balances: with full pages, and without differences. */
export function balanceRequests({ fromBlock, countOf }: WalletAssets): number {
  const atBlock = 1 + Math.ceil(countOf('erc20') / CONTRACTS_PER_REQUEST) + Math.min(1, countOf('erc1155'))
  if (fromBlock > 0) return 2 * atBlock
  // Whether a transaction followed, and the NFTs.
  return atBlock + (countOf('erc721') > 0 ? 2 : 0)
}
