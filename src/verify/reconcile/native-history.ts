import type { OpenExport } from '../../read/open-export.ts'
import type { LedgerStep } from './find-divergence.ts'
import type { LedgerWallet } from './ledger-sums.ts'

/** Transactions of the wallets whose histories are in memory at a time. */
const MAX_TRANSACTIONS = 500_000

/** Divides wallets into groups whose histories fit into memory together. */
export function groupByHistory(wallets: readonly LedgerWallet[]): LedgerWallet[][] {
  const groups: LedgerWallet[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const wallet of wallets) {
    if (size + wallet.transactions > MAX_TRANSACTIONS) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(wallet)
    size += wallet.transactions
  }
  return groups
}

/** Reads the running sum of the native coin after each block with rows, by wallet. */
export async function readNativeHistory(
  { stream }: OpenExport,
  wallets: readonly LedgerWallet[],
): Promise<ReadonlyMap<string, readonly LedgerStep[]>> {
  const histories = new Map<string, LedgerStep[]>(wallets.map(({ address }) => [address, []]))
  for await (const rows of stream('ledger', ['wallet_address', 'block_number', 'asset_type', 'value'])) {
    for (const { wallet_address, block_number, asset_type, value } of rows) {
      const steps = asset_type === 'native' ? histories.get(wallet_address) : undefined
      if (steps === undefined) continue
      const block = Number(block_number)
      const last = steps.at(-1)
      if (last?.block === block) last.sum += BigInt(value)
      else steps.push({ block, sum: (last?.sum ?? 0n) + BigInt(value) })
    }
  }
  return histories
}
