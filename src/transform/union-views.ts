import type { Cells, Prefix } from '../core/table/index.ts'
import { compareContentIds } from '../sources/transfer-id.ts'
import {
  type ErcTable,
  type Internal,
  type LogKey,
  type LogRow,
  type Native,
  onChainLogFields,
  type View,
} from '../sources/view.ts'

/** One wallet's view of a transaction. */
export type WalletView = {
  wallet: string
  /** Number of the run that read it. */
  run: number
  view: View
}

export type WalletViews = readonly [WalletView, ...WalletView[]]

export type ViewUnion = View & {
  /** Whether a log is in another table, or has other entries, than in a view that contains it. @default false */
  isMixed?: boolean | undefined
}

/**
 * Unites the partial views of one transaction (CONTRACT section 2.4). ERC entries are matched by log,
 * internal entries by content, where the largest count wins. If views differ, the newest run wins; within a
 * run, the lowest wallet address.
 *
 * @param views sorted by wallet address
 */
export function unionViews(views: WalletViews): ViewUnion {
  const [{ view, run }] = views
  if (views.length === 1) return unionOfOne(view)
  const isOneRun = views.every((seen) => seen.run === run)
  const preferred = isOneRun ? views : ([...views].sort((a, b) => b.run - a.run) as unknown as WalletViews)
  const tableByLog = findLogTables(preferred)
  const unionTable = <T extends LogRow>(table: ErcTable) =>
    unionByKey(
      preferred.map((seen) => ({ run: seen.run, entries: seen.view[table] as unknown as readonly T[] })),
      (log) => tableByLog === undefined || tableByLog.get(log) === table,
    )
  return {
    native: preferredNative(preferred.map((seen) => seen.view.native)),
    erc20: unionTable<Cells<'erc20_transfers'>>('erc20'),
    erc721: unionTable<Cells<'erc721_transfers'>>('erc721'),
    erc1155: unionTable<Cells<'erc1155_transfers'>>('erc1155'),
    internal: unionInternal(
      views.map((seen) => seen.view.internal),
      preferred.map((seen) => seen.view.internal),
    ),
    isComplete: views.every((seen) => seen.view.isComplete),
    repeatedLogs: [...new Set(views.flatMap((seen) => seen.view.repeatedLogs ?? []))],
    isMixed: !isOneRun || tableByLog !== undefined,
  }
}

/**
 * The first native that is complete or, if there is none, that states its position. The position is that of the first
 * native that states it, as in `findReorged`. A field of the call that it omits comes from the first native that states
 * it: otherwise the value would depend on which wallets were read again.
 */
function preferredNative(natives: readonly Native[]): Native {
  const [first] = natives as [Native]
  const sameBlock = natives.filter(({ prefix }) => prefix.block_number === first.prefix.block_number)
  const preferred =
    sameBlock.find(({ isPartial }) => isPartial !== true) ??
    sameBlock.find(({ prefix }) => prefix.block_hash !== null) ??
    first
  const stated = (name: (typeof CALL_FIELDS)[number]) =>
    preferred.row[name] ?? sameBlock.find(({ row }) => row[name] !== null)?.row[name] ?? null
  const [call_type, method_id] = [stated('call_type'), stated('method_id')]
  const { prefix } = preferred
  const index = sameBlock.find((native) => native.prefix.transaction_index !== null)?.prefix.transaction_index
  const transaction_index = index ?? null
  if (
    transaction_index === prefix.transaction_index &&
    call_type === preferred.row.call_type &&
    method_id === preferred.row.method_id
  )
    return preferred
  const row = { ...preferred.row, call_type, method_id }
  return { ...preferred, prefix: { ...prefix, transaction_index }, row }
}

function unionOfOne(view: View): ViewUnion {
  const { erc20, erc721, erc1155 } = view
  if (isInOrder(erc20) && isInOrder(erc721) && isInOrder(erc1155)) return view
  return { ...view, erc20: sortUnique(erc20), erc721: sortUnique(erc721), erc1155: sortUnique(erc1155) }
}

/** The row order of a table of transfers (CONTRACT section 2.4). */
function compareTransfers(a: LogRow, b: LogRow): number {
  if (a.log_index === null || b.log_index === null) {
    if (a.log_index === null && b.log_index === null) return compareContentIds(a.transfer_id, b.transfer_id)
    return a.log_index === null ? 1 : -1
  }
  return a.log_index - b.log_index || ordinalOf(a) - ordinalOf(b)
}

const ordinalOf = (row: LogRow) => ('transfer_ordinal' in row ? (row.transfer_ordinal ?? 0) : 0)

/** Maps each log to its table in the first view that contains it; undefined if all logs are in one table. */
function findLogTables(preferred: WalletViews): ReadonlyMap<LogKey, ErcTable> | undefined {
  const used = new Set(preferred.flatMap(({ view }) => ERC_TABLES.filter((table) => view[table].length > 0)))
  if (used.size < 2) return undefined
  const tables = new Map<LogKey, ErcTable>()
  for (const { view } of preferred)
    for (const [log, table] of logTables(view)) if (!tables.has(log)) tables.set(log, table)
  return tables
}

const ERC_TABLES: readonly ErcTable[] = ['erc20', 'erc721', 'erc1155']

/**
 * Returns all entries sorted by key, each key once. Entries of an older run are dropped if a newer run
 * contains their log.
 *
 * @param isInTable whether a log belongs to the table
 */
function unionByKey<T extends LogRow>(
  lists: readonly { run: number; entries: readonly T[] }[],
  isInTable: (log: LogKey) => boolean,
): readonly T[] {
  const runOfLog = new Map<LogKey, number>()
  const all: T[] = []
  for (const { run, entries } of lists) {
    for (const entry of entries) {
      const log = logKey(entry)
      if (!isInTable(log)) continue
      if (!runOfLog.has(log)) runOfLog.set(log, run)
      if (runOfLog.get(log) === run) all.push(entry)
    }
  }
  return sortUnique(all)
}

/** Sorts entries by key and keeps the first entry of each key. */
function sortUnique<T extends LogRow>(entries: readonly T[]): readonly T[] {
  if (isInOrder(entries)) return entries
  const sorted = [...entries].sort(compareTransfers)
  return sorted.filter((entry, at) => at === 0 || compareTransfers(sorted[at - 1] as T, entry) !== 0)
}

function isInOrder<T extends LogRow>(entries: readonly T[]): boolean {
  for (let at = 1; at < entries.length; at += 1)
    if (compareTransfers(entries[at - 1] as T, entries[at] as T) >= 0) return false
  return true
}

type InternalList = readonly Internal[]

/**
 * The order follows the view of the lowest address, then the entries that only further views contain. The
 * fields of an entry come from the first preferred view that contains it.
 */
function unionInternal(lists: readonly InternalList[], preferred: readonly InternalList[]): Internal[] {
  const described = new Map<string, Internal[]>()
  for (const list of preferred) {
    for (const [content, entries] of byContent(list)) {
      const existing = described.get(content) ?? []
      described.set(content, [...existing, ...entries.slice(existing.length)])
    }
  }
  const union: Internal[] = []
  const counts = new Map<string, number>()
  for (const list of lists) {
    const seen = new Map<string, number>()
    for (const { content } of list) {
      const at = seen.get(content) ?? 0
      seen.set(content, at + 1)
      if (at < (counts.get(content) ?? 0)) continue
      counts.set(content, at + 1)
      const entry = described.get(content)?.[at]
      if (entry !== undefined) union.push(entry)
    }
  }
  return union
}

/** Groups internal entries by content, in the order of the listing. */
function byContent(list: InternalList): Map<string, Internal[]> {
  const entries = new Map<string, Internal[]>()
  for (const entry of list) {
    const existing = entries.get(entry.content)
    if (existing === undefined) entries.set(entry.content, [entry])
    else existing.push(entry)
  }
  return entries
}

export const logKey = ({ log_index, transfer_id }: LogRow): LogKey => log_index ?? transfer_id

type Logs = Pick<View, ErcTable>

/** A log that is in several lists is assigned to the first of these. */
const PRECEDENCE: readonly ErcTable[] = ['erc721', 'erc1155', 'erc20']

/** Keeps each log in one list only (CONTRACT section 2.4). */
export function dedupeLogs(view: View): View {
  const { erc20, erc721, erc1155 } = view
  if (Number(erc20.length > 0) + Number(erc721.length > 0) + Number(erc1155.length > 0) < 2) return view
  const tables = logTables(view)
  const repeated = new Set<LogKey>()
  const retain = <T extends LogRow>(table: ErcTable, entries: readonly T[]): readonly T[] =>
    entries.filter((entry) => {
      const log = logKey(entry)
      const isInTable = tables.get(log) === table
      if (!isInTable) repeated.add(log)
      return isInTable
    })
  const retained = {
    erc20: retain('erc20', view.erc20),
    erc721: retain('erc721', view.erc721),
    erc1155: retain('erc1155', view.erc1155),
  }
  return { ...view, ...retained, repeatedLogs: [...repeated] }
}

/** Maps each log to its table. */
export function logTables(logs: Logs): Map<LogKey, ErcTable> {
  const tables = new Map<LogKey, ErcTable>()
  for (const table of PRECEDENCE)
    for (const entry of logs[table]) if (!tables.has(logKey(entry))) tables.set(logKey(entry), table)
  return tables
}

/**
 * Returns true if a wallet's view contradicts the union of all views: fields of the transaction, of a log or
 * of an internal call differ, or the view lacks an entry that has the wallet as a party. Names, prices,
 * metadata and the order of internal calls are not compared, because they are not on the chain.
 */
export function contradicts(union: ViewUnion, seen: WalletView): boolean {
  return (
    differsInNative(union.native, seen.view.native) ||
    ERC_TABLES.some((table) => differsInLogs(table, union, seen)) ||
    differsInInternal(union.internal, seen)
  )
}

const PREFIX_FIELDS = [
  'block_number',
  'block_hash',
  'block_timestamp',
  'transaction_index',
] as const satisfies readonly (keyof Prefix)[]
const NATIVE_FIELDS = [
  'transaction_type',
  'status',
  'nonce',
  'from_address',
  'to_address',
  'value',
  'gas_limit',
  'gas_used',
  'gas_price',
] as const satisfies readonly (keyof Cells<'transactions'>)[]
/** Fields of the call, which a listing may omit. Only two different statements contradict each other. */
const CALL_FIELDS = ['call_type', 'method_id'] as const satisfies readonly (keyof Cells<'transactions'>)[]

function differsInNative(a: Native, b: Native): boolean {
  if (a === b) return false
  const isUnknown = (value: unknown, native: Native) => value === null && native.isPartial === true
  const differs = (left: unknown, right: unknown) =>
    left !== right && !isUnknown(left, a) && !isUnknown(right, b)
  return (
    PREFIX_FIELDS.some((name) => differs(a.prefix[name], b.prefix[name])) ||
    NATIVE_FIELDS.some((name) => differs(a.row[name], b.row[name])) ||
    CALL_FIELDS.some((name) => a.row[name] !== null && b.row[name] !== null && a.row[name] !== b.row[name])
  )
}

type Parties = { from_address: string | null; to_address: string | null }

const isParty = ({ from_address, to_address }: Parties, wallet: string) =>
  from_address === wallet || to_address === wallet

function differsInLogs(table: ErcTable, union: ViewUnion, { wallet, view }: WalletView): boolean {
  const [all, own]: [readonly LogRow[], readonly LogRow[]] = [union[table], view[table]]
  if (all === own || (all.length === 0 && own.length === 0)) return false
  const byKey = new Map(own.map((entry) => [entry.transfer_id, entry]))
  let matched = 0
  for (const entry of all) {
    const ownEntry = byKey.get(entry.transfer_id)
    if (ownEntry === undefined) {
      if (view.isComplete && isParty(entry, wallet)) return true
    } else {
      matched += 1
      if (ownEntry !== entry && onChainLogFields(ownEntry) !== onChainLogFields(entry)) return true
    }
  }
  return matched < byKey.size
}

function differsInInternal(union: readonly Internal[], { wallet, view }: WalletView): boolean {
  if (union === view.internal) return false
  const own = byContent(view.internal)
  for (const [content, entries] of byContent(union)) {
    const ownEntries = own.get(content) ?? []
    const involvesWallet = entries.some(({ row }) => isParty(row, wallet))
    if (ownEntries.length < entries.length && involvesWallet && view.isComplete) return true
    if (ownEntries.length === entries.length && onChainCallFields(ownEntries) !== onChainCallFields(entries))
      return true
  }
  return false
}

/** Kind, outcome and gas of the calls as one string that does not depend on their order. */
function onChainCallFields(entries: readonly Internal[]): string {
  const lines = entries.map(
    ({ row }) => `${row.internal_type} ${row.reverted} ${row.gas_used} ${row.gas_limit}`,
  )
  return lines.sort().join('\n')
}
