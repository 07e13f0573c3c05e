import type { ErcTable, LogRow, View } from '../sources/view.ts'

/** A view in which each log is in one of the ERC lists. */
export type DedupedView = View & {
  /** Logs that the source listed in more than one of the ERC lists. */
  repeatedLogs: readonly number[]
}

type Logs = Pick<View, ErcTable>

/** A log that is in several lists is assigned to the first of these. */
const PRECEDENCE: readonly ErcTable[] = ['erc721', 'erc1155', 'erc20']

/** Keeps each log in one list only (CONTRACT section 2.4). */
export function dedupeLogs(view: View): DedupedView {
  if (PRECEDENCE.filter((table) => view[table].length > 0).length < 2) return { ...view, repeatedLogs: [] }
  const tables = logTables(view)
  const repeated = new Set<number>()
  const retain = <T extends { log_index: number }>(table: ErcTable, entries: readonly T[]): readonly T[] =>
    entries.filter(({ log_index: log }) => {
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
export function logTables(logs: Logs): Map<number, ErcTable> {
  const tables = new Map<number, ErcTable>()
  for (const table of PRECEDENCE)
    for (const { log_index: log } of logs[table]) if (!tables.has(log)) tables.set(log, table)
  return tables
}

/** The log index of a row and its position in the log's batch, combined into one number. */
export function logKey(row: LogRow): number {
  return row.log_index * 2 ** 20 + ('transfer_ordinal' in row ? row.transfer_ordinal : 0)
}
