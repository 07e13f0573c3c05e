import { type ByteText, toText, toValue } from '../core/platform/byte-text.ts'
import type { Cells, Prefix, TableName } from '../core/table/index.ts'
import { type Fields, RejectError } from '../sources/data-api/flatten/fields.ts'
import { internalRows } from '../sources/data-api/flatten/internal.ts'
import { type LogRow, logKey } from '../sources/data-api/flatten/log-facts.ts'
import { type ErcTable, logTables, readView, type View } from '../sources/data-api/flatten/view.ts'
import { contradicts } from './contradictions.ts'
import { ledgerRows, type WalletLabels } from './ledger.ts'
import { movementsOf } from './movements.ts'
import { unionViews, type ViewUnion, type WalletView, type WalletViews } from './union-views.ts'

/** What is the same for all transactions of a job; its text is bytes, as that of items and rows. */
export type FlattenContext = {
  /** The chain that was asked for, which items have to be of. */
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
export type ItemView = {
  wallet: string
  key: { hash: ByteText }
  item: unknown
  /** Number of the run that read it. @default 0 */
  run?: number | undefined
}

export type FlatTransaction = {
  /** What all its rows begin with. */
  prefix: Prefix
  /** The other cells of its rows by table, each list in the table's order; text is bytes. */
  rows: { [T in TableName]: readonly Cells<T>[] }
  /** The wallets in whose listing it is. */
  seenBy: string[]
  /** True where views tell different facts of the chain. */
  isContradicted: boolean
  /** How many of its logs a view lists in more than one of the ERC lists. */
  repeatedLogs: number
  /** Its status, or whether an internal transaction of it was reverted, is unknown. */
  isStatusUnknown: boolean
  /** A wallet of the job sent it, and its fee is unknown or zero. */
  isFeeUnknown: boolean
}

/**
 * Turns all views of one transaction, in the order of the wallets' addresses, into the rows of every table. Views
 * that cannot be normalized are rejected; undefined where none is left.
 */
export function flattenTransaction(
  items: readonly ItemView[],
  context: FlattenContext,
): FlatTransaction | undefined {
  const views: WalletView[] = []
  for (const item of items) {
    const view = readOrReject(item, context)
    if (view !== undefined) views.push({ wallet: item.wallet, run: item.run ?? 0, view })
  }
  if (!isNonEmpty(views)) return undefined
  const union = unionViews(views)
  return {
    prefix: union.native.prefix,
    rows: rowsOf(union, views, context),
    seenBy: views.map(({ wallet }) => wallet),
    isContradicted: views.length > 1 && views.some((view) => contradicts(union, view)),
    repeatedLogs: union.repeatedLogs.length,
    ...unknownsOf(union, context),
  }
}

function unknownsOf({ native, internal }: ViewUnion, { wallets }: FlattenContext) {
  const { success, from_address: from, transaction_fee: fee } = native.row
  return {
    isStatusUnknown: success === null || internal.some(({ isOutcomeKnown }) => !isOutcomeKnown),
    isFeeUnknown: from !== null && wallets.has(from) && (fee === null || fee === '0'),
  }
}

const isNonEmpty = (views: readonly WalletView[]): views is WalletViews => views.length > 0

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

function rowsOf(
  union: ViewUnion,
  views: readonly WalletView[],
  context: FlattenContext,
): FlatTransaction['rows'] {
  const { tables, wallets, nativeSymbol } = context
  const { native, erc20, erc721, erc1155 } = union
  const internal = internalRows(union.internal)
  const ifRequested = <T>(table: TableName, rows: () => readonly T[]) => (tables.has(table) ? rows() : NONE)
  return {
    transactions: ifRequested('transactions', () => [native.row]),
    erc20_transfers: ifRequested('erc20_transfers', () => erc20),
    erc721_transfers: ifRequested('erc721_transfers', () => erc721),
    erc1155_transfers: ifRequested('erc1155_transfers', () => erc1155),
    internal_transactions: ifRequested('internal_transactions', () => internal),
    wallet_transactions: ifRequested('wallet_transactions', () =>
      views.map((seen) => walletRow(seen, union, wallets)),
    ),
    ledger: ifRequested('ledger', () => {
      const { prefix, row } = native
      const movements = movementsOf(union, internal, nativeSymbol)
      return ledgerRows(movements, { prefix, methodName: row.method_name, wallets })
    }),
  }
}

const NONE: readonly never[] = []

function walletRow(
  { wallet, view }: WalletView,
  union: ViewUnion,
  wallets: WalletLabels,
): Cells<'wallet_transactions'> {
  const { from_address, to_address } = union.native.row
  return {
    wallet_address: wallet,
    wallet_label: wallets.get(wallet) ?? null,
    is_sender: from_address === wallet,
    is_receiver: to_address === wallet,
    ...countLogs(view, union),
    internal_transactions: view.internal.length,
  }
}

type LogCounts = Pick<
  Cells<'wallet_transactions'>,
  'erc20_transfers' | 'erc721_transfers' | 'erc1155_transfers'
>

/** How many facts of each ERC table a view lists, in whichever of its lists. */
function countLogs(view: View, union: ViewUnion): LogCounts {
  const { erc20, erc721, erc1155 } = view
  if (!union.isMixed)
    return {
      erc20_transfers: erc20.length,
      erc721_transfers: erc721.length,
      erc1155_transfers: erc1155.length,
    }
  const tables = logTables(view)
  const keys = new Set([...erc20, ...erc721, ...erc1155].map(logKey))
  const count = (table: ErcTable): number =>
    (union[table] as readonly LogRow[]).filter((row) => {
      const listed = tables.get(row.log_index)
      return listed === table ? keys.has(logKey(row)) : listed !== undefined
    }).length
  return {
    erc20_transfers: count('erc20'),
    erc721_transfers: count('erc721'),
    erc1155_transfers: count('erc1155'),
  }
}
