import { type WrappedCoin, wrappedCoinOf } from '../core/model/chains.ts'
import { isAtomicListing } from '../core/model/listings.ts'
import type { Wraps } from '../core/model/model.ts'
import { toBytes } from '../core/platform/byte-text.ts'
import type { TableName } from '../core/table/index.ts'
import type { Source } from '../sources/source.ts'
import type { FeeSource } from './fees.ts'
import { flattenAtomic } from './flatten-atomic.ts'
import {
  type FlatTransaction,
  type FlattenContext,
  flattenTransaction,
  type ItemView,
  type Reject,
} from './flatten-transaction.ts'
import type { PositionedItem } from './merge/page-items.ts'
import { rejectLine } from './reject-line.ts'

/**
 * All settings that the rows of a job depend on. Structured-cloneable, so that it can be passed to a thread.
 */
export type RowContext = {
  chain: string
  nativeSymbol: string | null
  wraps: Wraps
  wrappedCoins: readonly string[]
  /** Addresses of the wallets whose rows are built. */
  addresses: readonly string[]
  /** By address, for wallets removed from the job: only blocks before this one count. */
  endBlocks: ReadonlyMap<string, number>
  /** By address; wallets without a label are absent. */
  labels: ReadonlyMap<string, string>
  tables: readonly TableName[]
}

/** A wallet's item for a transaction, parsed. */
type ParsedItem = PositionedItem & Pick<ItemView, 'item' | 'run' | 'problem'>

/**
 * Builds the rows of a transaction from all its views. Returns undefined if none of them can be normalized.
 * `onReject` receives lines of `rejects.ndjson`.
 */
export type Flattener = (
  views: readonly ParsedItem[],
  onReject: (line: string) => void,
) => FlatTransaction | undefined

/** A wallet removed from the job has rows, and counts as an own wallet, only before its end block. */
export function createFlattener(context: RowContext, source: Source, fees: () => FeeSource): Flattener {
  const { chain, nativeSymbol, addresses, endBlocks } = context
  const own = new Set(addresses)
  const labels = new Map([...context.labels].map(([address, label]) => [address, toBytes(label)]))
  const get = (address: string) => labels.get(address)
  const wallets = { has: (address: string) => own.has(address), get }
  let onLine: (line: string) => void = () => undefined
  const settings: FlattenContext = {
    source,
    chain: toBytes(chain),
    nativeSymbol: nativeSymbol === null ? null : toBytes(nativeSymbol),
    wrappedCoinOf: openWrappedCoins(context),
    tables: new Set(context.tables),
    wallets,
    fees: fees(),
    onReject: (reject: Reject) => onLine(rejectLine(chain, reject)),
  }
  return (views, onReject) => {
    onLine = onReject
    const isAtomic = views.some(isAtomicView)
    const flattenItems = isAtomic ? flattenAtomic : flattenTransaction
    settings.fees = fees()
    if (endBlocks.size === 0) return flattenItems(views, settings)
    const block = views[0]?.key.block ?? 0
    const isIncluded = (address: string) => block < (endBlocks.get(address) ?? Number.POSITIVE_INFINITY)
    const has = (address: string) => own.has(address) && isIncluded(address)
    const includedViews = views.filter(({ wallet }) => isIncluded(wallet))
    return flattenItems(includedViews, { ...settings, wallets: { has, get } })
  }
}

const isAtomicView = ({ wallet }: PositionedItem) => isAtomicListing(wallet)

/** Returns the wrapped coin by chain id; always undefined if the ledger leaves it out. */
function openWrappedCoins({ wraps, wrappedCoins, nativeSymbol }: RowContext) {
  const coins = new Map<string, WrappedCoin | undefined>()
  return (chain: string): WrappedCoin | undefined => {
    if (wraps === 'off') return undefined
    if (!coins.has(chain)) {
      const coin = wrappedCoinOf({ chain, wrappedCoins, nativeSymbol })
      const symbol = coin?.symbol == null ? null : toBytes(coin.symbol)
      coins.set(chain, coin === undefined ? undefined : { ...coin, symbol })
    }
    return coins.get(chain)
  }
}
