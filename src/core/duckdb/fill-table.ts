/** Rows per INSERT statement. */
const BATCH = 5000

/**
 * Creates a scratch table, or replaces it, with one row per item. `into` declares the table: `ids (address VARCHAR)`. `toRow`
 * formats an item as an SQL row.
 */
export async function fillTable<T>(
  run: (sql: string) => Promise<void>,
  into: string,
  items: readonly T[],
  toRow: (item: T) => string,
): Promise<void> {
  await run(`CREATE OR REPLACE TABLE ${into}`)
  for (let at = 0; at < items.length; at += BATCH) {
    const rows = items.slice(at, at + BATCH).map(toRow)
    await run(`INSERT INTO ${into.split(' ', 1)} VALUES ${rows.join(', ')}`)
  }
}
