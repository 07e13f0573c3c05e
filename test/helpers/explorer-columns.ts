import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { readCsvTable, type TextRow } from './read-output.ts'

const README = new URL('../../src/sources/explorer-api/README.md', import.meta.url)

type Columns = { isNull(column: string): boolean; mayDiffer(column: string): boolean }

/** The columns of each table in the README that are null, or may have other values than in an export from the Data API. */
function documentedColumns(): Map<string, Columns> {
  const section = readFileSync(README, 'utf8').split('\n## Columns')[1] ?? ''
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)]
  return new Map(rows.map(([, table = '', ...cells]) => [table, columnsIn(cells as [string, string])]))
}

function columnsIn([nulls, others]: [string, string]): Columns {
  const matcher = (cell: string) => {
    const names = [...cell.matchAll(/`([\w*]+)`/g)].map(([, name = '']) => name.replace('*', '\\w+'))
    const pattern = new RegExp(`^(${names.join('|')})$`)
    return (column: string) => names.length > 0 && pattern.test(column)
  }
  return { isNull: matcher(nulls), mayDiffer: matcher(others) }
}

const IDENTITY = [
  'transaction_hash',
  'wallet_address',
  'entry_type',
  'direction',
  'counterparty_address',
  'from_address',
  'to_address',
  'token_address',
  'asset_address',
  'token_id',
  'value',
]

/** The rows of a table, sorted by what they state about the chain. */
async function sortedRows(output: string, table: TableName): Promise<TextRow[]> {
  const keyed = (await readCsvTable(output, table)).map((row) => ({
    row,
    key: IDENTITY.map((column) => row[column] ?? '').join('|'),
  }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row)
}

/**
 * Asserts that an export from an explorer equals one from the Data API in all columns that both have. Columns that
 * only the record of the transaction itself states may be null.
 */
export async function expectEqualColumns(
  dataApi: string,
  explorer: string,
  { statesLogIndex }: { statesLogIndex: boolean },
): Promise<void> {
  const documented = documentedColumns()
  for (const table of DEFAULT_TABLES) {
    const { isNull = () => false, mayDiffer = () => false } = documented.get(table) ?? {}
    const [expected, found] = [await sortedRows(dataApi, table), await sortedRows(explorer, table)]
    expect({ table, rows: found.length }).toEqual({ table, rows: expected.length })
    const columns = Object.keys(found[0] ?? {})
    const nulls = columns.filter(isNull)
    const differing = columns.filter((column) => {
      if (isNull(column) || mayDiffer(column)) return false
      return found.some(
        (row, at) => row[column] !== expected[at]?.[column] && !(isUnknown(row, table) && row[column] === ''),
      )
    })
    expect({ table, differing }).toEqual({ table, differing: [] })
    if (statesLogIndex) continue
    const filled = nulls.filter((column) => found.some((row) => row[column] !== ''))
    expect({ table, filled }).toEqual({ table, filled: [] })
  }
}

/** Whether a row is of a transaction that is known in part: without its value, or without its block hash. */
const isUnknown = (row: TextRow, table: TableName) =>
  row.block_hash === '' || (table === 'transactions' && row.value === '')
