import type { WrappedCoin } from '../core/model/chains.ts'
import { type ByteText, toText, toValue } from '../core/platform/byte-text.ts'
import type { Cells, Prefix, TableName } from '../core/table/index.ts'
import type { Source } from '../sources/source.ts'
import { contentId } from '../sources/transfer-id.ts'
import type { ErcTable, Internal, LogRow, Native, View } from '../sources/view.ts'
import { type FeeSource, type PaidNative, withPaidPrice } from './fees.ts'
import { ledgerRows, type WalletLabels } from './ledger.ts'
import { movementsOf } from './movements.ts'
import {
  contradicts,
  dedupeLogs,
  logKey,
  logTables,
  unionViews,
  type ViewUnion,
  type WalletView,
  type WalletViews,
} from './union-views.ts'

/**
 * Settings that are the same for all transactions of a job. Text is `ByteText`, like in items and rows.
 */
export type FlattenContext = {
  source: Source
  /** The requested chain. Items of other chains are rejected. */
  chain: ByteText
  nativeSymbol: ByteText | null
  /** Returns the wrapped coin of a chain whose movements are added to the ledger, by the chain's id. */
  wrappedCoinOf: (chain: string) => WrappedCoin | undefined
  /** Tables to create rows for. All other tables stay empty. */
  tables: ReadonlySet<TableName>
  /** Labels of all wallets of the job, by address. */
  wallets: WalletLabels
  fees: FeeSource
  /** Called for each record that cannot be normalized. */
  onReject: (reject: Reject) => void
}

/** A record that could not be normalized, as it was received, with the reason. */
export type Reject = {
  /** The wallet whose listing contains the record; `blocks` in a blocks job. */
  wallet: string
  transactionHash: string | null
  /** The list of the item that contains the record; null if the record is the whole item. */
  list: string | null
  reason: string
  record: unknown
}

/** A wallet's item for one transaction, parsed by `parseBytes`. */
export type ItemView = {
  wallet: string
  key: { hash: ByteText }
  item: unknown
  /** Number of the run that read it. @default 0 */
  run?: number | undefined
  /** Why it is rejected, whatever it contains. @default it is not */
  problem?: string | undefined
}

export type FlatTransaction = {
  /** The prefix columns that all its rows share. */
  prefix: Prefix
  /** The remaining cells of its rows by table, in the row order of each table. Text is `ByteText`. */
  rows: { [T in TableName]: readonly Cells<T>[] }
  /** The wallets whose listings contain it. */
  seenBy: string[]
  /** Whether its views contradict each other. */
  isContradicted: boolean
  /** Number of its logs that a view lists in more than one of the ERC lists. */
  repeatedLogs: number
  /** Whether its status, or the `reverted` flag of one of its internal transactions, is unknown. */
  isStatusUnknown: boolean
  /** Whether a wallet of the job sent it and its fee is unknown or zero. */
  isFeeUnknown: boolean
  /** Whether a wallet of the job sent it and its fee is an upper bound. */
  isFeeUpperBound: boolean
  /** Its listed gas price if a wallet of the job sent it and details would state the price that was paid. */
  openPrice?: string | undefined
}

/**
 * Builds the rows of every table from all views of one transaction. The views must be sorted by wallet
 * address. Views that cannot be normalized go to `onReject`; the result is undefined if no view remains.
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
  const paid = priced(union.native, context)
  union.native = paid.native
  return {
    prefix: paid.native.prefix,
    rows: rowsOf(union, views, context),
    seenBy: views.length === 1 ? [views[0].wallet] : views.map(({ wallet }) => wallet),
    isContradicted: views.length > 1 && views.some((view) => contradicts(union, view)),
    repeatedLogs: union.repeatedLogs?.length ?? 0,
    isStatusUnknown: isStatusUnknown(union),
    isFeeUnknown: paid.isFeeUnknown,
    isFeeUpperBound: paid.isFeeUpperBound,
    openPrice: paid.openPrice,
  }
}

function isStatusUnknown({ native, internal }: ViewUnion): boolean {
  return (
    (native.row.success === null && native.isPartial !== true) ||
    internal.some(({ isOutcomeKnown }) => !isOutcomeKnown)
  )
}

/** Only the fees of transactions that a wallet of the job sent are of interest. */
function priced(native: Native, { wallets, fees }: FlattenContext): PaidNative {
  const from = native.row.from_address
  if (from !== null && wallets.has(from)) return withPaidPrice(native, fees)
  return { native, isFeeUnknown: false, isFeeUpperBound: false }
}

const isNonEmpty = (views: readonly WalletView[]): views is WalletViews => views.length > 0

function readOrReject(
  { wallet, key, item, problem: known }: ItemView,
  { source, chain, onReject }: FlattenContext,
): View | undefined {
  const onBadEntry = (list: string | null, record: unknown, reason: string) =>
    onReject({ wallet, transactionHash: toText(key.hash), list, reason, record: toValue(record) })
  const view = source.readView(item, { chain, onBadEntry })
  const problem =
    known ?? (typeof view === 'string' ? view : blockTimeProblem(view.native.prefix.block_timestamp))
  if (typeof view !== 'string' && problem === undefined) return dedupeLogs(view)
  onBadEntry(null, item, problem ?? '')
  return undefined
}

function rowsOf(
  union: ViewUnion,
  views: readonly WalletView[],
  context: FlattenContext,
): FlatTransaction['rows'] {
  const { tables, wallets } = context
  const { native, erc20, erc721, erc1155 } = union
  const internal = union.internal.length === 0 ? NONE : internalRows(union.internal)
  return {
    transactions: tables.has('transactions') ? [native.row] : NONE,
    erc20_transfers: tables.has('erc20_transfers') ? erc20 : NONE,
    erc721_transfers: tables.has('erc721_transfers') ? erc721 : NONE,
    erc1155_transfers: tables.has('erc1155_transfers') ? erc1155 : NONE,
    internal_transactions: tables.has('internal_transactions') ? internal : NONE,
    atomic_transactions: NONE,
    wallet_transactions: tables.has('wallet_transactions')
      ? views.map((seen) => walletRow(seen, union, wallets))
      : NONE,
    ledger: tables.has('ledger') ? ledgerOf(union, internal, context) : NONE,
  }
}

function ledgerOf(
  union: ViewUnion,
  internal: readonly Cells<'internal_transactions'>[],
  { nativeSymbol, wrappedCoinOf, wallets }: FlattenContext,
): Cells<'ledger'>[] {
  const { prefix, row } = union.native
  const wrappedCoin = wrappedCoinOf(prefix.chain_id)
  const movements = movementsOf(union, internal, { nativeSymbol, wrappedCoin })
  return ledgerRows(movements, { prefix, methodName: row.method_name, wallets })
}

const NONE: readonly never[] = []

/** Adds the ids of a transaction's internal entries: a hash of the content, and the number of its occurrence. */
function internalRows(entries: readonly Internal[]): Cells<'internal_transactions'>[] {
  const occurrences = new Map<string, number>()
  const rows: Cells<'internal_transactions'>[] = []
  for (const { row, content } of entries) {
    const occurrence = occurrences.get(content) ?? 0
    occurrences.set(content, occurrence + 1)
    rows.push({ ...row, internal_id: contentId(content, occurrence) })
  }
  return rows
}

function walletRow(
  { wallet, view }: WalletView,
  union: ViewUnion,
  wallets: WalletLabels,
): Cells<'wallet_transactions'> {
  const { from_address, to_address } = union.native.row
  const logs = union.isMixed === true ? countLogs(view, union) : undefined
  return {
    wallet_address: wallet,
    wallet_label: wallets.get(wallet) ?? null,
    is_sender: from_address === wallet,
    is_receiver: to_address === wallet,
    erc20_transfers: logs?.erc20 ?? view.erc20.length,
    erc721_transfers: logs?.erc721 ?? view.erc721.length,
    erc1155_transfers: logs?.erc1155 ?? view.erc1155.length,
    internal_transactions: view.internal.length,
  }
}

/**
 * Counts the facts of each ERC table that a view contains, regardless of which of its lists contains them.
 */
function countLogs(view: View, union: ViewUnion): Record<ErcTable, number> {
  const { erc20, erc721, erc1155 } = view
  const tables = logTables(view)
  const ids = new Set([...erc20, ...erc721, ...erc1155].map(({ transfer_id }) => transfer_id))
  const count = (table: ErcTable): number =>
    (union[table] as readonly LogRow[]).filter((row) => {
      const listed = tables.get(logKey(row))
      return listed === table ? ids.has(row.transfer_id) : listed !== undefined
    }).length
  return { erc20: count('erc20'), erc721: count('erc721'), erc1155: count('erc1155') }
}

/** 2015-07-30T15:26:13Z: the first block of Ethereum, before which no EVM chain has a transaction. */
const FIRST_BLOCK_MS = 1_438_269_973_000

/** Why a time cannot be that of a block, such as 0 for a missing one; undefined if it can. */
export function blockTimeProblem(timeMs: number): string | undefined {
  if (timeMs >= FIRST_BLOCK_MS) return undefined
  return `its time, ${new Date(timeMs).toISOString()}, is before the first block of any chain`
}
