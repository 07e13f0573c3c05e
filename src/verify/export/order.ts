import { UNKNOWN_INDEX } from '../../core/model/item-key.ts'
import type { Table, TableName } from '../../core/table/index.ts'
import { tableByName } from '../../core/table/index.ts'
import type { ResultRow } from '../../read/scratch-database.ts'
import { type CheckedExport, expectNoRow } from './checked-export.ts'

/** Checks that a table's rows are in the order of CONTRACT section 2, across files too. */
export async function checkOrder(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const columns = ORDERS[name]
  const values = columns.map((column) => `${ORDER_VALUES[column] ?? column} AS ${column}`)
  const previousColumns = columns.map((column) => `lag(${column}) OVER () AS before_${column}`)
  const rows = `SELECT *, ${previousColumns.join(', ')} FROM (SELECT f, r, ${values.join(', ')} FROM ${name})`
  await expectNoRow(checkedExport, name, `SELECT * FROM (${rows}) WHERE ${outOfOrderSql(columns)}`, (row) => {
    const named = columnsToName(columns, row)
    const [current, previous] = ['', 'before_'].map((prefix) => named.map((column) => row[prefix + column]))
    return `order by ${named.join(', ')}: ${current} follows ${previous}`
  })
}

/** Checks that block times, in whole seconds, do not run backwards along the blocks of a table. */
export async function checkTimes(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const secondOf = (time: string) => `epoch_us(${time}) // 1000000`
  const blocks = `SELECT max(f) AS f, max(r) AS r, block_number, ${secondOf('min(block_timestamp)')} AS first,
    ${secondOf('max(block_timestamp)')} AS last FROM ${name} GROUP BY block_number`
  await expectNoRow(
    checkedExport,
    name,
    `SELECT * FROM (SELECT *, max(last) OVER (ORDER BY block_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS before FROM (${blocks})) WHERE first < before`,
    (row) => `block ${row.block_number} is before an earlier block (${row.first} < ${row.before})`,
  )
}

/** Checks that no two rows of a table have the same key, across files too. */
export async function checkKeys(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const { key }: Table = tableByName(name)
  const columns = key.join(', ')
  const duplicates = `SELECT ${columns} FROM ${name} GROUP BY ${columns} HAVING count(*) > 1`
  await expectNoRow(
    checkedExport,
    name,
    `SELECT ${columns}, max(f) AS f, arg_max(r, (f, r)) AS r, count(*) AS times
          FROM ${name} SEMI JOIN (${duplicates}) AS twice USING (${columns}) GROUP BY ${columns}`,
    (row) => {
      const values = key.map((column) => `${column} ${row[column]}`).join(', ')
      return `key: expected ${values} once, found it ${row.times} times`
    },
  )
}

/** The columns that a message names: those that only break ties are named if the rows differ in them alone. */
function columnsToName(columns: readonly string[], row: ResultRow): readonly string[] {
  const firstDifference = columns.find((column) => row[column] !== row[`before_${column}`])
  return columns.filter((column) => !TIE_BREAKERS.has(column) || column === firstDifference)
}

const TIE_BREAKERS: ReadonlySet<string> = new Set(['transaction_hash', 'transfer_id'])

/** SQL condition that holds where a row sorts before its predecessor. */
function outOfOrderSql(columns: readonly string[]): string {
  const cases = columns.map((column, at) => {
    const equal = columns.slice(0, at).map((previous) => `${previous} = before_${previous}`)
    return `(${[...equal, `${column} < before_${column}`].join(' AND ')})`
  })
  return cases.join(' OR ')
}

/** Columns of a transaction's position. The hash orders transactions that claim the same index of a block. */
const POSITION = ['block_number', 'transaction_index', 'transaction_hash']

/** What columns are ordered by, where that is not the value itself. */
const ORDER_VALUES: Readonly<Record<string, string>> = {
  // A transaction of unknown position comes after all others of its block, except for atomic transactions.
  transaction_index: `coalesce(transaction_index, ${UNKNOWN_INDEX})`,
  // Transfers without log index come last, ordered by the hash and the number in their id.
  log_index: `coalesce(log_index, ${2 ** 31})`,
  transfer_ordinal: 'coalesce(transfer_ordinal, 0)',
  transfer_id: `CASE WHEN log_index IS NULL
    THEN split_part(transfer_id, '-', 1) || lpad(split_part(transfer_id, '-', 2), 10, '0') ELSE '' END`,
}

const ORDERS: Readonly<Record<TableName, readonly string[]>> = {
  transactions: POSITION,
  erc20_transfers: [...POSITION, 'log_index', 'transfer_id'],
  erc721_transfers: [...POSITION, 'log_index', 'transfer_id'],
  erc1155_transfers: [...POSITION, 'log_index', 'transfer_ordinal', 'transfer_id'],
  internal_transactions: POSITION,
  atomic_transactions: [...POSITION, 'transfer_ordinal'],
  wallet_transactions: [...POSITION, 'wallet_address'],
  ledger: [...POSITION, 'wallet_address', 'entry_index'],
}
