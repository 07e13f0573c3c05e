import { toBytes, toText } from '../../src/core/platform/byte-text.ts'
import type { Cell, Column, ColumnType, Table } from '../../src/core/table/index.ts'

/** The first violation of a table's column declarations in a row; undefined if there is none. */
export function rowProblem(
  row: Readonly<Record<string, Cell>>,
  { name, columns }: Table,
): string | undefined {
  const cells = Object.keys(row).length
  if (cells !== columns.length) return `${name}: ${cells} cells for ${columns.length} columns`
  return columns
    .map((column) => cellProblem(row[column.name], column))
    .find((problem) => problem !== undefined)
}

function cellProblem(cell: Cell | undefined, { name, type, nullable }: Column): string | undefined {
  if (cell === undefined) return `${name} is undefined`
  if (cell === null) return nullable ? undefined : `${name} is null`
  return CELL_CHECKS[type](cell) ? undefined : `${name} is no ${type}: ${String(cell).slice(0, 90)}`
}

const within = (cell: Cell, min: bigint, max: bigint) => {
  const text = String(cell)
  return (
    /^-?\d+$/.test(text) && text === BigInt(text).toString() && BigInt(text) >= min && BigInt(text) <= max
  )
}

const LAST_TIME = 253_402_300_799_999

const CELL_CHECKS: Record<ColumnType, (cell: Cell) => boolean> = {
  text: (cell) => typeof cell === 'string' && cell !== '' && toBytes(toText(cell)) === cell,
  bool: (cell) => typeof cell === 'boolean',
  int32: (cell) => typeof cell === 'number' && within(cell, -(2n ** 31n), 2n ** 31n - 1n),
  int64: (cell) => within(cell, -(2n ** 63n), 2n ** 63n - 1n),
  u256: (cell) => typeof cell === 'string' && within(cell, 0n, 2n ** 256n - 1n),
  i256: (cell) => typeof cell === 'string' && within(cell, -(2n ** 256n), 2n ** 256n),
  decimal: (cell) => typeof cell === 'string' && /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(cell) && cell !== '-0',
  time: (cell) => Number.isSafeInteger(cell) && Number(cell) >= 0 && Number(cell) <= LAST_TIME,
}
