import type { Row, TableName } from '../core/table/index.ts'
import {
  erc20Row,
  erc721Row,
  erc1155Row,
  internalIds,
  internalRow,
  type Prefix,
  prefixOf,
  transactionRow,
} from './fact-rows.ts'
import { type Fields, RejectError } from './fields.ts'
import { ledgerRows, type WalletLabels } from './ledger.ts'
import { movementsOf } from './movements.ts'
import { uniteViews, type Views } from './unite.ts'
import { readView, type View } from './view.ts'

export type FlattenContext = {
  /** Chain id of rows whose item has none. */
  chain: string
  nativeSymbol: string | null
  /** Tables whose rows are wanted; the others stay empty. */
  tables: ReadonlySet<TableName>
  /** Label by address of every wallet of the job. */
  wallets: WalletLabels
  /** Called with a record that cannot be normalized, as it was received, and why. */
  onReject: (reject: Reject) => void
}

/** A record of the service that could not be normalized, as it was received, and why. */
export type Reject = {
  /** Address of the wallet in whose listing it was; `blocks` in a job of blocks. */
  wallet: string
  transactionHash: string | null
  /** The list of the item that the record stood in; null: the record is the whole item. */
  list: string | null
  reason: string
  record: unknown
}

/** A wallet's item of one transaction. */
export type ItemView = { wallet: string; key: { hash: string }; item: unknown }

export type FlatTransaction = {
  /** By table, each list in the table's order. */
  rows: Record<TableName, Row[]>
  /** The wallets in whose listing it is. */
  seenBy: string[]
  /** When its block was made, in milliseconds since 1970. */
  timeMs: number
}

/**
 * Turns all views of one transaction, in the order of the wallets' addresses, into the rows of every table. Views
 * that cannot be normalized are rejected; undefined where none is left.
 */
export function flattenTransaction(
  items: readonly ItemView[],
  context: FlattenContext,
): FlatTransaction | undefined {
  const views: View[] = []
  const seenBy: string[] = []
  for (const item of items) {
    const view = readOrReject(item, context)
    if (view === undefined) continue
    views.push(view)
    seenBy.push(item.wallet)
  }
  if (!isAny(views)) return undefined
  const united = uniteViews(views)
  return { rows: rowsOf(united, { views, seenBy }, context), seenBy, timeMs: united.native.timeMs }
}

const isAny = (views: readonly View[]): views is Views => views.length > 0

/** What each wallet knows of a transaction, one after the other. */
type Seen = { views: readonly View[]; seenBy: readonly string[] }

function readOrReject({ wallet, key, item }: ItemView, { onReject }: FlattenContext): View | undefined {
  const reject = (list: string | null, record: unknown, reason: string) =>
    onReject({ wallet, transactionHash: key.hash, list, reason, record })
  try {
    return readView(item as Fields, reject)
  } catch (thrown) {
    if (!(thrown instanceof RejectError)) throw thrown
    reject(null, item, thrown.message)
    return undefined
  }
}

function rowsOf(united: View, { views, seenBy }: Seen, context: FlattenContext): FlatTransaction['rows'] {
  const { tables, wallets, nativeSymbol } = context
  const { native, erc20, erc721, erc1155, internal } = united
  const prefix = prefixOf(native, context.chain)
  const ids = internalIds(internal)
  const { methodName } = native
  return {
    transactions: tables.has('transactions') ? [transactionRow(prefix, native)] : NONE,
    erc20_transfers: rowsIf(tables.has('erc20_transfers'), erc20, (entry) => erc20Row(prefix, entry)),
    erc721_transfers: rowsIf(tables.has('erc721_transfers'), erc721, (entry) => erc721Row(prefix, entry)),
    erc1155_transfers: rowsIf(tables.has('erc1155_transfers'), erc1155, (entry) => erc1155Row(prefix, entry)),
    internal_transactions: rowsIf(tables.has('internal_transactions'), internal, (entry, at) =>
      internalRow(prefix, entry, ids[at] ?? ''),
    ),
    wallet_transactions: rowsIf(tables.has('wallet_transactions'), views, (view, at) =>
      walletRow(prefix, { wallet: seenBy[at] ?? '', view }, wallets),
    ),
    ledger: tables.has('ledger')
      ? ledgerRows(movementsOf(united, ids, nativeSymbol), { prefix, methodName, wallets })
      : NONE,
  }
}

/** Pushed, not mapped: V8 compiles what goes through lists once more where some of them were mapped. */
function rowsIf<T>(isWanted: boolean, entries: readonly T[], rowOf: (entry: T, at: number) => Row): Row[] {
  if (!isWanted || entries.length === 0) return NONE
  const rows: Row[] = []
  for (let at = 0; at < entries.length; at += 1) rows.push(rowOf(entries[at] as T, at))
  return rows
}

const NONE: Row[] = []

function walletRow(
  prefix: Prefix,
  { wallet, view }: { wallet: string; view: View },
  wallets: WalletLabels,
): Row {
  return [
    ...prefix,
    wallet,
    wallets.get(wallet) ?? null,
    view.native.from.address === wallet,
    view.native.to.address === wallet,
    view.erc20.length,
    view.erc721.length,
    view.erc1155.length,
    view.internal.length,
  ]
}
