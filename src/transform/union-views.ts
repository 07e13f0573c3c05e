import type { Cells } from '../core/table/index.ts'
import { compareContentIds } from '../sources/transfer-id.ts'
import type { ErcTable, Internal, LogKey, LogRow, Native, View } from '../sources/view.ts'
import { logKey, logTables } from './erc-logs.ts'

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
  const isOneRun = views.every((one) => one.run === run)
  const preferred = isOneRun ? views : ([...views].sort((a, b) => b.run - a.run) as unknown as WalletViews)
  const tableByLog = findLogTables(preferred)
  const unionTable = <T extends LogRow>(table: ErcTable) =>
    unionByKey(
      preferred.map((one) => ({ run: one.run, entries: one.view[table] as unknown as readonly T[] })),
      (log) => tableByLog === undefined || tableByLog.get(log) === table,
    )
  return {
    native: preferredNative(preferred.map((one) => one.view.native)),
    erc20: unionTable<Cells<'erc20_transfers'>>('erc20'),
    erc721: unionTable<Cells<'erc721_transfers'>>('erc721'),
    erc1155: unionTable<Cells<'erc1155_transfers'>>('erc1155'),
    internal: unionInternal(
      views.map((one) => one.view.internal),
      preferred.map((one) => one.view.internal),
    ),
    isComplete: views.every((one) => one.view.isComplete),
    repeatedLogs: [...new Set(views.flatMap((one) => one.view.repeatedLogs ?? []))],
    isMixed: !isOneRun || tableByLog !== undefined,
  }
}

/** The first native that is complete or, if there is none, that states its position. */
function preferredNative(natives: readonly Native[]): Native {
  const [first] = natives as [Native]
  const sameBlock = natives.filter(({ prefix }) => prefix.block_number === first.prefix.block_number)
  return (
    sameBlock.find(({ isPartial }) => isPartial !== true) ??
    sameBlock.find(({ prefix }) => prefix.block_hash !== null) ??
    first
  )
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
export function byContent(list: InternalList): Map<string, Internal[]> {
  const entries = new Map<string, Internal[]>()
  for (const entry of list) {
    const existing = entries.get(entry.content)
    if (existing === undefined) entries.set(entry.content, [entry])
    else existing.push(entry)
  }
  return entries
}
