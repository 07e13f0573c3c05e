import { openDataset } from '../../read/dataset.ts'
import type { Source } from '../../sources/source.ts'
import { hasEarlierBalances } from './compare-wallet.ts'
import { type LedgerWallet, readableCoverage, readLedgerSums } from './ledger-sums.ts'

/** The number of requests that comparing these wallets takes at least: with full pages, and without differences. */
export function predictRequests(wallets: readonly LedgerWallet[], source: Source): number {
  const requestsOf = (wallet: LedgerWallet) =>
    source.balanceRequests({
      fromBlock: hasEarlierBalances(wallet) ? wallet.fromBlock : 0,
      countOf: (kind) => wallet.sums.filter(({ type }) => type === kind).length,
    })
  return wallets.reduce((sum, wallet) => sum + requestsOf(wallet), 0)
}

/** The same for all wallets of an export. Reads its ledger. */
export async function predictReconcile(folder: string, source: Source): Promise<number> {
  const output = await openDataset(folder)
  try {
    const covered = readableCoverage(output.manifest)
    return predictRequests((await readLedgerSums(output, covered)).wallets, source)
  } finally {
    await output.close()
  }
}
