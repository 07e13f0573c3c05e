import type { Table, TableName } from '../../core/table/index.ts'
import { tableByName } from '../../core/table/index.ts'
import type { ResultRow } from '../../read/scratch-database.ts'
import { type CheckedExport, expectNone, rowLocation } from './checked-export.ts'

/** Checks that a table's rows are in the order of CONTRACT section 2, across files too. */
export async function checkOrder(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const columns = ORDERS[name]
  const previousColumns = columns.map((column) => `lag(${column}) OVER () AS before_${column}`)
  const rows = `SELECT f, r, ${[...columns, ...previousColumns].join(', ')} FROM ${name}`
  await expectNone(checkedExport, {
    sql: `SELECT * FROM (${rows}) WHERE ${outOfOrderSql(columns)}`,
    describe: (found) => {
      const named = columnsToName(columns, found)
      const [current, previous] = ['', 'before_'].map((prefix) =>
        named.map((column) => found[prefix + column]),
      )
      return `${rowLocation(checkedExport, name, found)}: order by ${named.join(', ')}: ${current} follows ${previous}`
    },
  })
}

/** Checks that no two rows of a table have the same key, across files too. */
export async function checkKeys(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const { key }: Table = tableByName(name)
  const columns = key.join(', ')
  const duplicates = `SELECT ${columns} FROM ${name} GROUP BY ${columns} HAVING count(*) > 1`
  await expectNone(checkedExport, {
    sql: `SELECT ${columns}, max(f) AS f, arg_max(r, (f, r)) AS r, count(*) AS times
          FROM ${name} SEMI JOIN (${duplicates}) AS twice USING (${columns}) GROUP BY ${columns}`,
    describe: (found) => {
      const values = key.map((column) => `${column} ${found[column]}`).join(', ')
      return `${rowLocation(checkedExport, name, found)}: key: expected ${values} once, found it ${found.times} times`
    },
  })
}

/** The columns that a message names: the hash only if the rows claim the same position. */
function columnsToName(columns: readonly string[], found: ResultRow): readonly string[] {
  const firstDifference = columns.find((column) => found[column] !== found[`before_${column}`])
  return columns.filter((column) => column !== 'transaction_hash' || column === firstDifference)
}

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

const ORDERS: Readonly<Record<TableName, readonly string[]>> = {
  transactions: POSITION,
  erc20_transfers: [...POSITION, 'log_index'],
  erc721_transfers: [...POSITION, 'log_index'],
  erc1155_transfers: [...POSITION, 'log_index', 'transfer_ordinal'],
  internal_transactions: POSITION,
  atomic_transactions: [...POSITION, 'transfer_ordinal'],
  wallet_transactions: [...POSITION, 'wallet_address'],
  ledger: [...POSITION, 'wallet_address', 'entry_index'],
}
