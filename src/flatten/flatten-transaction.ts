import { type ByteText, toText, toValue } from '../core/byte-text.ts'
import type { Cells, Prefix, TableName } from '../core/table/index.ts'
import { type Fields, RejectError } from './fields.ts'
import { internalRows } from './internal.ts'
import { ledgerRows, type WalletLabels } from './ledger.ts'
import { movementsOf } from './movements.ts'
import { uniteViews, type Views } from './unite.ts'
import { readView, type View } from './view.ts'

/** What is the same for all transactions of a job; its text is bytes, as that of items and rows. */
export type FlattenContext = {
  /** Chain id of rows whose item has none. */
  chain: ByteText
  nativeSymbol: ByteText | null
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

/** A wallet's item of one transaction, parsed by `parseBytes`. */
export type ItemView = { wallet: string; key: { hash: ByteText }; item: unknown }

export type FlatTransaction = {
  /** What all its rows begin with. */
  prefix: Prefix
  /** The other cells of its rows by table, each list in the table's order; text is bytes. */
  rows: { [T in TableName]: readonly Cells<T>[] }
  /** The wallets in whose listing it is. */
  seenBy: string[]
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
  return { prefix: united.native.prefix, rows: rowsOf(united, { views, seenBy }, context), seenBy }
}

const isAny = (views: readonly View[]): views is Views => views.length > 0

/** What each wallet knows of a transaction, one after the other. */
type Seen = { views: readonly View[]; seenBy: readonly string[] }

function readOrReject(
  { wallet, key, item }: ItemView,
  { chain, onReject }: FlattenContext,
): View | undefined {
  const onBadEntry = (list: string | null, record: unknown, reason: string) =>
    onReject({ wallet, transactionHash: toText(key.hash), list, reason, record: toValue(record) })
  try {
    return readView(item as Fields, { chain, onBadEntry })
  } catch (thrown) {
    if (!(thrown instanceof RejectError)) throw thrown
    onBadEntry(null, item, thrown.message)
    return undefined
  }
}

function rowsOf(united: View, { views, seenBy }: Seen, context: FlattenContext): FlatTransaction['rows'] {
  const { tables, wallets, nativeSymbol } = context
  const { native, erc20, erc721, erc1155 } = united
  const internal = internalRows(united.internal)
  const ifWanted = <T>(table: TableName, rows: () => readonly T[]) => (tables.has(table) ? rows() : NONE)
  return {
    transactions: ifWanted('transactions', () => [native.row]),
    erc20_transfers: ifWanted('erc20_transfers', () => erc20),
    erc721_transfers: ifWanted('erc721_transfers', () => erc721),
    erc1155_transfers: ifWanted('erc1155_transfers', () => erc1155),
    internal_transactions: ifWanted('internal_transactions', () => internal),
    wallet_transactions: ifWanted('wallet_transactions', () =>
      views.map((view, at) => walletRow(seenBy[at] ?? '', view, wallets)),
    ),
    ledger: ifWanted('ledger', () => {
      const { prefix, row } = native
      const movements = movementsOf(united, internal, nativeSymbol)
      return ledgerRows(movements, { prefix, methodName: row.method_name, wallets })
    }),
  }
}

const NONE: readonly never[] = []

function walletRow(wallet: string, view: View, wallets: WalletLabels): Cells<'wallet_transactions'> {
  const { from_address, to_address } = view.native.row
  return {
    wallet_address: wallet,
    wallet_label: wallets.get(wallet) ?? null,
    is_sender: from_address === wallet,
    is_receiver: to_address === wallet,
    erc20_transfers: view.erc20.length,
    erc721_transfers: view.erc721.length,
    erc1155_transfers: view.erc1155.length,
    internal_transactions: view.internal.length,
  }
}
