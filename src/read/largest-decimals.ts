import type { ResultRow, TextRow } from './scratch-database.ts'

/** The columns that must be read together for values to be comparable. */
const COLUMNS = ['asset_address', 'token_id', 'asset_decimals', 'value'] as const

/** Whether the reader of these columns interprets values by the decimals of their rows. */
export const readsDecimals = (names: readonly string[]): boolean =>
  COLUMNS.every((name) => names.includes(name))

const tokenKey = (address: string | null, id: string | null) => `${address ?? ''}/${id ?? ''}`

/** The files of a dataset and its scratch database. */
type Ledger = {
  collect(into: string, table: 'ledger', select: (source: string) => string): Promise<void>
  all(sql: string): Promise<ResultRow[]>
}

/** The largest decimals of each token whose ledger rows have several. */
export async function readLargestDecimals({ collect, all }: Ledger): Promise<ReadonlyMap<string, number>> {
  const decimals = 'asset_decimals::INTEGER'
  await collect(
    'several (address VARCHAR, id VARCHAR, smallest INTEGER, largest INTEGER)',
    'ledger',
    (source) =>
      `SELECT asset_address, token_id, min(${decimals}), max(${decimals}) FROM ${source} ` +
      `WHERE asset_type IN ('erc20', 'erc1155') AND ${decimals} BETWEEN 0 AND 255 GROUP BY ALL`,
  )
  const rows = await all(
    'SELECT address, id, max(largest) AS largest FROM several GROUP BY ALL HAVING min(smallest) < max(largest)',
  )
  return new Map(
    rows.map(({ address, id, largest }) => [
      tokenKey(address as string | null, id as string | null),
      Number(largest),
    ]),
  )
}

/** Restates the rows of the loaded ledger like `scalerOf`, by the table that `readLargestDecimals` has filled. */
export const RESTATE_LEDGER = `UPDATE ledger SET value = (value::VARCHAR || repeat('0', target - asset_decimals))::BIGNUM,
  asset_decimals = target
  FROM (SELECT address, id, max(largest) AS target FROM several GROUP BY ALL HAVING min(smallest) < max(largest))
  WHERE address = asset_address AND coalesce(id, '') = coalesce(token_id::VARCHAR, '')
    AND asset_decimals BETWEEN 0 AND target - 1`

/**
 * Returns a function that restates a ledger row of such a token in the largest decimals: the amount stays that of the row, and
 * values of different rows can be added. Rows without decimals count in this unit.
 */
export function scalerOf(
  largest: ReadonlyMap<string, number>,
  names: readonly string[],
): (cells: TextRow) => TextRow {
  const [address = 0, id = 0, decimals = 0, value = 0] = COLUMNS.map((name) => names.indexOf(name))
  return (cells) => {
    const own = cells[decimals]
    const target = largest.get(tokenKey(cells[address] ?? null, cells[id] ?? null))
    if (target === undefined || own == null || Number(own) < 0 || Number(own) >= target) return cells
    const restated = [...cells]
    restated[value] = `${cells[value]}${'0'.repeat(target - Number(own))}`
    restated[decimals] = String(target)
    return restated
  }
}
