// Deliberately independent of src: which version of a re-indexed transaction each wallet has fetched.
import type { SeededRandom } from '../seeded-random.ts'
import { isFuture, viewOf } from './chain-model.ts'
import type {
  ChainModel,
  Erc20,
  Erc721,
  InternalCall,
  PlacedTransaction,
  TransactionContent,
  TransactionEntries,
} from './chain-types.ts'

/** A wallet's view of a transaction, as of the last request that returned it. */
export type FetchedView = {
  view: TransactionContent
  /** Of two views, the one with the higher version was fetched later. */
  version: number
}

/** The version that a wallet has fetched last, by wallet and transaction hash. No entry: the current version. */
export type FetchedVersions = Map<string, number>

const keyOf = (wallet: string, { hash }: TransactionContent) => `${wallet} ${hash}`

type ReindexOptions = {
  /** The wallets that have fetched the blocks. */
  wallets: readonly string[]
  /** Index of the last run that fetched the blocks. */
  runIndex: number
  isAffected: (block: number) => boolean
}

/** Changes entries of some transactions in these blocks. Each wallet keeps the version that it has fetched. */
export function reindexTransactions(
  { blocks, random }: ChainModel,
  fetched: FetchedVersions,
  { wallets, runIndex, isAffected }: ReindexOptions,
): void {
  for (const block of blocks) {
    if (isFuture(block) || !isAffected(block.number)) continue
    for (const content of block.transactions) {
      if (content.since > runIndex || random.next() < 0.5) continue
      const version = content.earlierVersions.length
      const { erc20, erc721, erc1155, internal } = content
      content.earlierVersions.push({ erc20, erc721, erc1155, internal })
      changeEntries(content, random)
      for (const wallet of wallets) {
        const key = keyOf(wallet, content)
        if (!fetched.has(key)) fetched.set(key, version)
      }
    }
  }
}

/** Changes gas, type and outcome of internal calls, and turns some ERC-20 transfers into ERC-721 transfers and vice versa. */
function changeEntries(content: TransactionEntries, random: SeededRandom): void {
  content.internal = content.internal.map((call) => retrace(call, random))
  const { erc20, erc721 } = content
  const keepsStandard = new Map([...erc20, ...erc721].map((entry) => [entry, random.next() < 0.6]))
  content.erc20 = inLogOrder([
    ...erc20.filter((entry) => keepsStandard.get(entry)),
    ...erc721.filter((entry) => !keepsStandard.get(entry)).map(asErc20),
  ])
  content.erc721 = inLogOrder([
    ...erc721.filter((entry) => keepsStandard.get(entry)),
    ...erc20.filter((entry) => !keepsStandard.get(entry)).map(asErc721),
  ])
}

function retrace(call: InternalCall, random: SeededRandom): InternalCall {
  if (random.next() < 0.3) return call
  const field = random.pick(['gas', 'type', 'outcome'])
  if (field === 'gas') return { ...call, gasUsed: String(random.between(1, 99)) }
  if (field === 'outcome') return { ...call, isReverted: !call.isReverted }
  return { ...call, internalTxType: random.pick(['CALL', 'UNKNOWN', 'DELEGATECALL']) }
}

function asErc20({ from, to, logIndex, erc721Token: { address, tokenId } }: Erc721): Erc20 {
  const erc20Token = { address, symbol: 'FT', decimals: 2, ercType: 'ERC-20' as const }
  return { from, to, logIndex, value: tokenId, erc20Token }
}

function asErc721({ from, to, logIndex, value, erc20Token: { address } }: Erc20): Erc721 {
  const erc721Token = { address, symbol: 'NFT', ercType: 'ERC-721' as const, tokenId: value, tokenUri: '' }
  return { from, to, logIndex, erc721Token }
}

const inLogOrder = <T extends { logIndex: number }>(entries: T[]): T[] =>
  entries.sort((a, b) => a.logIndex - b.logIndex)

/** A wallet's view of the version that it has fetched; undefined if the wallet is not a party to the transaction. */
export function fetchedViewOf(
  fetched: FetchedVersions,
  content: TransactionContent,
  wallet: string,
): FetchedView | undefined {
  const version = fetched.get(keyOf(wallet, content)) ?? content.earlierVersions.length
  const view = viewOf({ ...content, ...(content.earlierVersions[version] ?? {}) }, wallet)
  return view && { view, version }
}

/** Records that a run has fetched these blocks again for these wallets. */
export function markRefetched(
  fetched: FetchedVersions,
  { blocks }: ChainModel,
  { wallets, isRefetched }: { wallets: readonly string[]; isRefetched: (block: number) => boolean },
): void {
  for (const { number, transactions } of blocks)
    if (isRefetched(number))
      for (const content of transactions) for (const wallet of wallets) fetched.delete(keyOf(wallet, content))
}

/**
 * Records that a run has fetched the block of each transaction with contradicting views again, for every wallet that lists the
 * transaction. Such a block brings the current version of its other transactions too, which may contradict further views.
 */
export function markContradictionsRefetched(
  fetched: FetchedVersions,
  placed: readonly PlacedTransaction[],
  wallets: readonly string[],
): void {
  const refetched = placed
    .map(({ block, content }) => ({ block, viewers: contradictingViewers(fetched, content, wallets) }))
    .filter(({ viewers }) => viewers.length > 0)
  if (refetched.length === 0) return
  for (const { block, viewers } of refetched)
    for (const { content } of placed.filter((other) => other.block === block))
      for (const wallet of viewers) fetched.delete(keyOf(wallet, content))
  markContradictionsRefetched(fetched, placed, wallets)
}

/** All wallets that list the transaction, if the views of two of them contradict each other; otherwise none. */
function contradictingViewers(
  fetched: FetchedVersions,
  content: TransactionContent,
  wallets: readonly string[],
): string[] {
  if (content.earlierVersions.length === 0) return []
  const views = wallets.flatMap((wallet) => {
    const found = fetchedViewOf(fetched, content, wallet)
    return found === undefined ? [] : { wallet, ...found }
  })
  const isContradicting = views.some((a) =>
    views.some(
      (b) => a.version < b.version && sharedEntries(a.view, b.wallet) !== sharedEntries(b.view, a.wallet),
    ),
  )
  return isContradicting ? views.map(({ wallet }) => wallet) : []
}

/** Facts of the entries that also involve the other wallet, as comparable text: without their order, names and metadata. */
function sharedEntries(view: TransactionContent, wallet: string): string {
  const {
    erc20 = [],
    erc721 = [],
    erc1155 = [],
    internal = [],
  } = viewOf({ ...view, from: { address: wallet } }, wallet) ?? {}
  const lists: object[][] = [
    erc20.map(({ erc20Token: { address }, ...entry }) => ({ ...entry, address })),
    erc721.map(({ erc721Token: { address, tokenId }, ...entry }) => ({ ...entry, address, tokenId })),
    erc1155.map(({ erc1155Token: { address, tokenId }, ...entry }) => ({ ...entry, address, tokenId })),
    internal,
  ]
  return JSON.stringify(lists.map((entries) => entries.map((entry) => JSON.stringify(entry)).sort()))
}
