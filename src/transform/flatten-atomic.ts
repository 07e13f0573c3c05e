import { COIN_DECIMALS } from '../core/model/asset.ts'
import { atomicNetworkOf } from '../core/model/chains.ts'
import { isAtomicListing, walletOf } from '../core/model/listings.ts'
import { toText, toValue } from '../core/platform/byte-text.ts'
import type { Cells } from '../core/table/index.ts'
import type { AtomicView } from '../sources/view.ts'
import {
  blockTimeProblem,
  type FlatTransaction,
  type FlattenContext,
  type ItemView,
} from './flatten-transaction.ts'
import { ledgerRows } from './ledger.ts'
import type { Asset, Movement } from './movements.ts'

/**
 * Builds the rows of an atomic transaction from the items of all wallets. Each item describes the whole transaction:
 * that of the newest run counts; within a run, that of the lowest wallet address. Items that cannot be normalized go to
 * `onReject`; the result is undefined if none remains.
 */
export function flattenAtomic(
  items: readonly ItemView[],
  context: FlattenContext,
): FlatTransaction | undefined {
  const listed = items.filter(({ wallet }) => isAtomicListing(wallet))
  const preferred = listed.toSorted((a, b) => (b.run ?? 0) - (a.run ?? 0))
  let view: AtomicView | undefined
  for (const item of preferred) view ??= readOrReject(item, context)
  if (view === undefined) return undefined
  const { prefix, entries } = view
  const { tables, wallets } = context
  const movements = tables.has('ledger') ? movementsOf(entries, context) : []
  return {
    prefix,
    rows: {
      ...NO_ROWS,
      atomic_transactions: tables.has('atomic_transactions') ? entries : [],
      ledger: ledgerRows(movements, { prefix, methodName: null, wallets }),
    },
    seenBy: listed.map(({ wallet }) => wallet),
    isContradicted: new Set(listed.map(({ item }) => context.source.onChainFieldsOf(item))).size > 1,
    repeatedLogs: 0,
    isStatusUnknown: false,
    isFeeUnknown: false,
    isFeeUpperBound: false,
  }
}

const NO_ROWS = {
  transactions: [],
  erc20_transfers: [],
  erc721_transfers: [],
  erc1155_transfers: [],
  internal_transactions: [],
  wallet_transactions: [],
}

function readOrReject(
  { wallet, key, item, problem: known }: ItemView,
  { source, chain, onReject }: FlattenContext,
): AtomicView | undefined {
  const reject = (list: string | null, record: unknown, reason: string) =>
    onReject({
      wallet: walletOf(wallet),
      transactionHash: toText(key.hash),
      list,
      reason,
      record: toValue(record),
    })
  const view = source.readAtomic?.(item, { chain, onBadEntry: reject }) ?? 'it is an atomic transaction'
  const problem = known ?? (typeof view === 'string' ? view : blockTimeProblem(view.prefix.block_timestamp))
  if (typeof view !== 'string' && problem === undefined) return view
  reject(null, item, problem ?? '')
  return undefined
}

/** The ledger has AVAX only: the chain's other balances are not balances of coins or tokens. */
function movementsOf(
  entries: readonly Cells<'atomic_transactions'>[],
  { chain, nativeSymbol }: FlattenContext,
): Movement[] {
  const coinAsset = atomicNetworkOf(chain)?.coinAsset
  const asset: Asset = {
    type: 'native',
    address: null,
    symbol: nativeSymbol,
    decimals: COIN_DECIMALS,
    tokenId: null,
  }
  return entries.flatMap((entry): Movement[] => {
    const { transfer_ordinal: ordinal, transfer_type: type, from_address, to_address, value } = entry
    if (entry.asset_id !== coinAsset || value === '0') return []
    const parties = { from_address, from_name: null, to_address, to_name: null }
    const common = { source: 'atomic_transactions' as const, index: String(ordinal), parties, asset }
    return [
      {
        ...common,
        type: type === 'import' ? 'import' : 'export',
        value: value + WEI_PER_NAVAX_ZEROS,
        amount: entry.amount,
      },
    ]
  })
}

/** 1 nAVAX = 10^9 wei: amounts have 9 decimals on the X-Chain and the P-Chain, and 18 on the C-Chain. */
const WEI_PER_NAVAX_ZEROS = '0'.repeat(9)
