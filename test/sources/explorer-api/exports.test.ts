import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../../src/core/model/api.ts'
import { DEFAULT_TABLES, type TableName } from '../../../src/core/table/index.ts'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import type { ExplorerQuirk } from '../../../src/demo-server/explorer/quirks.ts'
import { listen } from '../../../src/demo-server/listen.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { readCsvTable, type TextRow } from '../../helpers/read-output.ts'
import { suiteFolder } from '../../helpers/temp-folder.ts'

const folder = suiteFolder()
const DATA_API = join(folder, 'data-api')
const README = new URL('../../../src/sources/explorer-api/README.md', import.meta.url)

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
  ...[
    'transaction_hash',
    'wallet_address',
    'entry_type',
    'direction',
    'counterparty_address',
    'from_address',
  ],
  ...['to_address', 'token_address', 'asset_address', 'token_id', 'value'],
]

/** The rows of a table, sorted by what they state about the chain. */
async function sortedRows(output: string, table: TableName): Promise<TextRow[]> {
  const keyed = (await readCsvTable(output, table)).map((row) => ({
    row,
    key: IDENTITY.map((column) => row[column] ?? '').join('|'),
  }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row)
}

/** The columns of a table in which two exports have different values. */
function differingColumns(expected: readonly TextRow[], found: readonly TextRow[]): string[] {
  const columns = Object.keys(expected[0] ?? {})
  return columns.filter((column) => expected.some((row, at) => row[column] !== found[at]?.[column]))
}

async function exportWith(api: Api, output: string, options: { quirk: ExplorerQuirk | undefined }) {
  const service = await listen(
    createDataService({ api, explorerQuirks: options.quirk === undefined ? [] : [options.quirk] }),
    { port: 0 },
  )
  try {
    await exportDemo(output, {
      addresses: demoWallets,
      service: { baseUrl: service.url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000, api },
    })
  } finally {
    await service.close()
  }
}

describe.for([
  { api: 'etherscan' as const, quirk: undefined },
  { api: 'etherscan' as const, quirk: 'free-plan' as const },
  { api: 'blockscout' as const, quirk: undefined },
  { api: 'blockscout' as const, quirk: 'before-9' as const },
])('an export from the API $api, quirk: $quirk', ({ api, quirk }) => {
  test('is verified, and equals one from the Data API in all columns that both have', async () => {
    const output = join(folder, `${api}-${quirk}`)
    await exportDemo(DATA_API)
    await exportWith(api, output, { quirk })
    expect((await verifyOutput(output)).problems).toEqual([])
    const documented = documentedColumns()
    for (const table of DEFAULT_TABLES) {
      const { isNull = () => false, mayDiffer = () => false } = documented.get(table) ?? {}
      const [expected, found] = [await sortedRows(DATA_API, table), await sortedRows(output, table)]
      expect({ table, rows: found.length }).toEqual({ table, rows: expected.length })
      const differing = differingColumns(expected, found)
      const unexpected = differing.filter((column) => !isNull(column) && !mayDiffer(column))
      expect({ table, unexpected }).toEqual({ table, unexpected: [] })
      const filled = found.flatMap((row) =>
        Object.keys(row).filter((column) => isNull(column) && row[column] !== ''),
      )
      const isBefore9 = quirk === 'before-9'
      expect({ table, filled: isBefore9 ? [] : [...new Set(filled)] }).toEqual({ table, filled: [] })
    }
  })
})
