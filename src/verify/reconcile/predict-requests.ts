import { openExport } from '../../read/open-export.ts'
import { CONTRACTS_PER_REQUEST } from '../../sources/data-api/read-balances.ts'
import { type LedgerWallet, readLedgerSums } from './ledger-sums.ts'

/** The number of requests that comparing these wallets takes at least: with full pages, and without differences. */
export function predictRequests(wallets: readonly LedgerWallet[]): number {
  return wallets.reduce((sum, wallet) => sum + requestsOf(wallet), 0)
}

/** The same for all wallets of an export. Reads its ledger. */
export async function predictReconcile(folder: string): Promise<number> {
  const output = await openExport(folder)
  try {
    const covered = output.manifest.coverage.filter(({ fromBlock, toBlock }) => fromBlock < toBlock)
    return predictRequests((await readLedgerSums(output, covered)).wallets)
  } finally {
    await output.close()
  }
}

function requestsOf({ sums, fromBlock }: LedgerWallet): number {
  const countOf = (kind: string) => sums.filter(({ type }) => type === kind).length
  const atBlock = 1 + Math.ceil(countOf('erc20') / CONTRACTS_PER_REQUEST) + Math.min(1, countOf('erc1155'))
  if (fromBlock > 0) return 2 * atBlock
  // Whether a transaction followed, and the NFTs.
  return atBlock + (countOf('erc721') > 0 ? 2 : 0)
}
