import type { Table, TableName } from '../../core/table/index.ts'
import { tableNamed } from '../../core/table/index.ts'
import { expectNone, type Lake, placeOf } from './checked-export.ts'

/** Rows of a table stand in the contract's order (section 2), from file to file too. */
export async function checkOrder(lake: Lake, name: TableName): Promise<void> {
  const columns = ORDERS[name]
  const before = columns.map((column) => `lag(${column}) OVER () AS before_${column}`)
  const rows = `SELECT f, r, ${[...columns, ...before].join(', ')} FROM ${name}`
  await expectNone(lake, {
    sql: `SELECT * FROM (${rows}) WHERE ${comesTooLate(columns)}`,
    tell: (found) => {
      const [here, previous] = ['', 'before_'].map((prefix) =>
        columns.map((column) => found[prefix + column]),
      )
      return `${placeOf(lake, name, found)}: order by ${columns.join(', ')}: ${here} follows ${previous}`
    },
  })
}

/** No two rows of a table have the same key, in different files neither. */
export async function checkKeys(lake: Lake, name: TableName): Promise<void> {
  const { key }: Table = tableNamed(name)
  const columns = key.join(', ')
  const twice = `SELECT ${columns} FROM ${name} GROUP BY ${columns} HAVING count(*) > 1`
  await expectNone(lake, {
    sql: `SELECT ${columns}, max(f) AS f, arg_max(r, (f, r)) AS r, count(*) AS times
          FROM ${name} SEMI JOIN (${twice}) AS twice USING (${columns}) GROUP BY ${columns}`,
    tell: (found) => {
      const values = key.map((column) => `${column} ${found[column]}`).join(', ')
      return `${placeOf(lake, name, found)}: key: expected ${values} once, found it ${found.times} times`
    },
  })
}

/** True where a row is less than the one before it, column by column. */
function comesTooLate(columns: readonly string[]): string {
  const cases = columns.map((column, at) => {
    const equal = columns.slice(0, at).map((earlier) => `${earlier} = before_${earlier}`)
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
