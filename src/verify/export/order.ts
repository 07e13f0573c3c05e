import type { Table, TableName } from '../../core/table/index.ts'
import { tableByName } from '../../core/table/index.ts'
import { type CheckedExport, expectNone, rowLocation } from './checked-export.ts'

/** Checks that a table's rows are in the order of CONTRACT section 2, across files too. */
export async function checkOrder(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const columns = ORDERS[name]
  const previousColumns = columns.map((column) => `lag(${column}) OVER () AS before_${column}`)
  const rows = `SELECT f, r, ${[...columns, ...previousColumns].join(', ')} FROM ${name}`
  await expectNone(checkedExport, {
    sql: `SELECT * FROM (${rows}) WHERE ${outOfOrderSql(columns)}`,
    describe: (found) => {
      const [current, previous] = ['', 'before_'].map((prefix) =>
        columns.map((column) => found[prefix + column]),
      )
      return `${rowLocation(checkedExport, name, found)}: order by ${columns.join(', ')}: ${current} follows ${previous}`
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

/** SQL condition that holds where a row sorts before its predecessor. */
function outOfOrderSql(columns: readonly string[]): string {
  const cases = columns.map((column, at) => {
    const equal = columns.slice(0, at).map((previous) => `${previous} = before_${previous}`)
    return `(${[...equal, `${column} < before_${column}`].join(' AND ')})`
  })
  return cases.join(' OR ')
}

const ORDERS: Readonly<Record<TableName, readonly string[]>> = {
  transactions: ['block_number', 'transaction_index'],
  erc20_transfers: ['block_number', 'transaction_index', 'log_index'],
  erc721_transfers: ['block_number', 'transaction_index', 'log_index'],
  erc1155_transfers: ['block_number', 'transaction_index', 'log_index', 'transfer_ordinal'],
  internal_transactions: ['block_number', 'transaction_index'],
  wallet_transactions: ['block_number', 'transaction_index', 'wallet_address'],
  ledger: ['block_number', 'transaction_index', 'wallet_address', 'entry_index'],
}
