import { DEFAULT_API } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { BalanceReader } from '../../sources/balances.ts'
import { sourceOf } from '../../sources/index.ts'
import type { ComparedBalance, ComparedWallet } from './compare-wallet.ts'
import { readDivergentTransactions, walletBlockKey } from './divergent-rows.ts'
import { type Divergence, findDivergence, type LedgerStep } from './find-divergence.ts'
import { markOverstated } from './find-overstated.ts'
import type { LedgerWallet } from './ledger-sums.ts'
import { coinCause, type ExportedChain, suspectOf } from './likely-cause.ts'

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

/**
 * Finds where the differences of the native coin begin, by address; not of wallets whose earlier balances the service
 * refuses. Memory is bounded by groups of wallets.
 */
export async function locateDifferences(
  output: Dataset,
  differences: readonly CoinDifference[],
  reader: BalanceReader,
): Promise<ReadonlyMap<string, LocatedDifference>> {
  const located = new Map<string, LocatedDifference>()
  const byAddress = new Map(differences.map((difference) => [difference.wallet.address, difference]))
  for (const group of groupByHistory(differences.map(({ wallet }) => wallet))) {
    const histories = await readNativeHistory(output, group)
    const searched = await Promise.all(
      group.map(async ({ address }) => {
        const steps = histories.get(address) ?? []
        return { address, ...(await locate(byAddress.get(address), steps, reader)) }
      }),
    )
    for (const { address, ...place } of await explain(output, searched, reader)) located.set(address, place)
  }
  return located
}

async function locate(
  difference: CoinDifference | undefined,
  steps: readonly LedgerStep[],
  reader: BalanceReader,
): Promise<SearchResult> {
  if (difference === undefined) return { divergence: undefined, requestsLeft: 0 }
  let requestsLeft = MAX_REQUESTS
  const { wallet, coin, opening } = difference
  const excessAt = async (block: number, sum: bigint) => {
    requestsLeft -= 1
    const balances = await reader.read('native', { wallet: wallet.address, block, contracts: [] })
    if (balances === undefined)
      throw new ExportError('BALANCES_UNAVAILABLE', `no balance after block ${block}`)
    const [native] = [...balances.values()]
    return (native?.value ?? 0n) - opening - sum
  }
  if (wallet.opening !== undefined && wallet.fromBlock > 0) {
    const excess = await excessAt(wallet.fromBlock - 1, 0n).catch(undefinedIfUnavailable)
    if (excess !== 0n) return { divergence: undefined, requestsLeft }
  }
  const search = { steps, excessAt, maxRequests: MAX_REQUESTS, differentAt: wallet.toBlock - 1 }
  const divergence = await findDivergence(
    { ...search, equalAt: Math.max(wallet.fromBlock - 1, -1) },
    coin.service - coin.ledger,
  ).catch(undefinedIfUnavailable)
  return { divergence, requestsLeft }
}

/** A service may not keep the state after earlier blocks: the difference stands, but it cannot be located. */
function undefinedIfUnavailable(error: unknown): undefined {
  if (!(error instanceof ExportError && error.code === 'BALANCES_UNAVAILABLE')) throw error
}

/** The properties of an export on which likely causes depend. What its API does not offer is not advised. */
export function exportedChainOf({ manifest: { job } }: Dataset): ExportedChain {
  const { chain, internals, wraps, wrappedCoins, atomic = false, api = DEFAULT_API } = job
  const { listsFullInternals = false, openAtomic } = sourceOf(api)
  return {
    chain,
    wraps,
    wrappedCoins,
    hasAtomic: atomic || openAtomic === undefined,
    internals: listsFullInternals ? internals : 'full',
  }
}

type SearchResult = { divergence: Divergence | undefined; requestsLeft: number }
type SearchedDifference = SearchResult & { address: string }

async function explain(
  output: Dataset,
  differences: readonly SearchedDifference[],
  reader: BalanceReader,
): Promise<(LocatedDifference & { address: string })[]> {
  const placeOf = ({ address, divergence }: SearchedDifference) => ({
    wallet: address,
    block: divergence?.toBlock ?? 0,
  })
  const own = differences.filter(({ divergence }) => divergence?.isInOwnBlock === true)
  const transactions = await readDivergentTransactions(output, own.map(placeOf))
  const locate = async (difference: SearchedDifference) => {
    const { address, divergence, requestsLeft: maxRequests } = difference
    if (divergence === undefined) return []
    const { fromBlock, toBlock, isInOwnBlock, excess } = divergence
    const inBlock = isInOwnBlock ? (transactions.get(walletBlockKey(placeOf(difference))) ?? []) : []
    const marked = await markOverstated(inBlock, { excess, maxRequests }, reader)
    const coin = { ...exportedChainOf(output), divergence, transactions: marked }
    const transaction = suspectOf(coin)?.hash ?? null
    return [{ address, fromBlock, toBlock, transaction, cause: coinCause(coin) }]
  }
  return (await Promise.all(differences.map(locate))).flat()
}

/** Transactions of the wallets whose histories are in memory at a time. */
const MAX_TRANSACTIONS = 500_000

/** Divides wallets into groups whose histories fit into memory together. */
function groupByHistory(wallets: readonly LedgerWallet[]): LedgerWallet[][] {
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
async function readNativeHistory(
  { stream }: Dataset,
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
