import type { ErcTable, LogKey, LogRow, View } from '../sources/view.ts'

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
