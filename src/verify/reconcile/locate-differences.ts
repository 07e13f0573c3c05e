import type { OpenExport } from '../../read/open-export.ts'
import type { ComparedBalance, ComparedWallet } from './compare-wallet.ts'
import { readDivergentTransactions, walletBlockKey } from './divergent-rows.ts'
import { type Divergence, findDivergence, type LedgerStep } from './find-divergence.ts'
import { coinCause, suspectOf } from './likely-cause.ts'
import { groupByHistory, readNativeHistory } from './native-history.ts'
import type { BalanceReader } from './service-balances.ts'

/** Where a difference of the native coin begins. */
export type LocatedDifference = {
  /** Bounds, both inclusive; equal if the block is known. */
  fromBlock: number
  toBlock: number
  /** The wallet's transaction after which the sums differ; null if there is none. */
  transaction: string | null
  cause: string
}

/** A wallet whose native coin differs, and its balance of it. */
export type CoinDifference = ComparedWallet & { coin: ComparedBalance }

/** Maximum requests per wallet. */
const MAX_REQUESTS = 20

/** Finds where the differences of the native coin begin, by address. Memory is bounded by groups of wallets. */
export async function locateDifferences(
  output: OpenExport,
  differences: readonly CoinDifference[],
  reader: BalanceReader,
): Promise<ReadonlyMap<string, LocatedDifference>> {
  const located = new Map<string, LocatedDifference>()
  const byAddress = new Map(differences.map((one) => [one.wallet.address, one]))
  for (const group of groupByHistory(differences.map(({ wallet }) => wallet))) {
    const histories = await readNativeHistory(output, group)
    const found = await Promise.all(
      group.map(async ({ address }) => {
        const steps = histories.get(address) ?? []
        return { address, divergence: await locate(byAddress.get(address), steps, reader) }
      }),
    )
    for (const { address, ...place } of await explain(output, found)) located.set(address, place)
  }
  return located
}

async function locate(
  difference: CoinDifference | undefined,
  steps: readonly LedgerStep[],
  reader: BalanceReader,
): Promise<Divergence | undefined> {
  if (difference === undefined) return undefined
  const { wallet, coin, opening } = difference
  const excessAt = async (block: number, sum: bigint) => {
    const found = await reader.read('native', { wallet: wallet.address, block, contracts: [] })
    const [native] = [...(found?.values() ?? [])]
    return (native?.value ?? 0n) - opening - sum
  }
  const search = { steps, excessAt, maxRequests: MAX_REQUESTS, differentAt: wallet.toBlock - 1 }
  return findDivergence(
    { ...search, equalAt: Math.max(wallet.fromBlock - 1, -1) },
    coin.service - coin.ledger,
  )
}

type Found = { address: string; divergence: Divergence | undefined }

async function explain(
  output: OpenExport,
  found: readonly Found[],
): Promise<(LocatedDifference & { address: string })[]> {
  const placeOf = ({ address, divergence }: Found) => ({ wallet: address, block: divergence?.toBlock ?? 0 })
  const own = found.filter(({ divergence }) => divergence?.isInOwnBlock === true)
  const transactions = await readDivergentTransactions(output, own.map(placeOf))
  return found.flatMap((one) => {
    const { address, divergence } = one
    if (divergence === undefined) return []
    const { fromBlock, toBlock } = divergence
    const inBlock = transactions.get(walletBlockKey(placeOf(one))) ?? []
    const coin = { chain: output.manifest.job.chain, divergence, transactions: inBlock }
    const transaction = divergence.isInOwnBlock ? (suspectOf(coin)?.hash ?? null) : null
    return [{ address, fromBlock, toBlock, transaction, cause: coinCause(coin) }]
  })
}
