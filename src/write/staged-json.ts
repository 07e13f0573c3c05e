import type { Column, Row } from '../table/index.ts'
import { joinLines, type LineMaker } from './lines.ts'

/** Turns rows into the JSON lines from which Parquet is made. Keys are positions: short, and never a stranger's word. */
export function stagedLines(columns: readonly Column[]): LineMaker {
  const times = columns.flatMap(({ type }, at) => (type === 'time' ? [at] : []))
  return (rows) => joinLines(rows, (row) => `${JSON.stringify(stagedRow(row, times))}\n`)
}

function stagedRow(row: Row, times: readonly number[]): Record<string, unknown> {
  const staged: Record<string, unknown> = { ...row }
  for (const at of times) {
    const cell = row[at] ?? null
    if (cell !== null) staged[at] = new Date(Number(cell)).toISOString()
  }
  for (let at = 0; at < row.length; at += 1) if (typeof row[at] === 'bigint') staged[at] = String(row[at])
  return staged
}
