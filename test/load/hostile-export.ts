import type { TableName } from '../../src/core/table/index.ts'
import { type Cells, goodLake, type Lake } from '../verify/export/model-export.ts'

/**
 * Text that a reader or engine might misinterpret. U+0000 is tested separately, because not every engine supports it.
 */
const HOSTILE_TEXTS = [
  "'",
  "''",
  "'plain",
  '"',
  '""',
  'a,b',
  'line\nfeed',
  'carriage\rreturn',
  'both\r\nof them',
  ',',
  '\n',
  '\\N',
  '\\',
  '\\n',
  'NULL',
  'null',
  'true',
  '0',
  '1e5',
  '007',
  ' lead',
  'trail ',
  ' ',
  '\ttab',
  '\rreturn',
  '=1+1',
  '+1',
  '-1',
  '@x',
  "=cmd|' /C calc'!A0",
  '😀',
  '\u202eright',
  'é',
  '\u0301',
  '\ufeffbom',
  '$1',
  '$x',
  '%s',
  '--',
  ';',
  '/* */',
  '{',
  '[1]',
  '{}',
  '<b>',
  "'; DROP TABLE ledger; --",
  'x'.repeat(70_000),
]

/** The valid lake with an additional transfer in block 250 for each hostile text. */
export function hostileLake(): Lake {
  const lake = goodLake()
  const [like] = lake.erc20_transfers
  const place = { block_number: '250', block_timestamp: '1970-01-01T00:00:00.000Z', transaction_index: '0' }
  const rows = HOSTILE_TEXTS.map(
    (text, at): Cells => ({
      ...like,
      ...place,
      transaction_hash: `0x${'7'.repeat(64)}`,
      transfer_id: String(at),
      log_index: String(at),
      token_name: text,
      token_symbol: text,
    }),
  )
  return sorted({ ...lake, erc20_transfers: [...lake.erc20_transfers, ...rows] })
}

/** Sorts each table's rows by block, as in files. */
function sorted(lake: Lake): Lake {
  const byBlock = (a: Cells, b: Cells) => Number(a.block_number) - Number(b.block_number)
  const tables = Object.entries(lake).map(([name, rows]) => [name, [...rows].sort(byBlock)])
  return Object.fromEntries(tables) as Record<TableName, Cells[]>
}

/** Sorts rows by content, for comparison. */
export function inOrder(rows: readonly Cells[]): Cells[] {
  const spelled = rows.map((row) => ({ row, text: JSON.stringify(Object.entries(row).sort()) }))
  return spelled.sort((a, b) => (a.text < b.text ? -1 : 1)).map(({ row }) => ({ ...row }))
}
