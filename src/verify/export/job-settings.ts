import { literal } from '../../core/platform/sql.ts'
import { expectNone, fillTable, type Lake, placeOf } from './checked-export.ts'

/** Labels and the coin's symbol stand in the rows as the manifest has them, where it says what rows were made with. */
export async function checkMadeWith(lake: Lake): Promise<void> {
  await checkLabels(lake)
  const { nativeSymbol } = lake.manifest.job
  if (nativeSymbol === undefined || !lake.whole.has('ledger')) return
  const symbol = nativeSymbol === null ? 'NULL' : literal(asCell(nativeSymbol, lake))
  await expectNone(lake, {
    sql: `SELECT f, r, asset_symbol FROM ledger
          WHERE asset_type = 'native' AND asset_symbol IS DISTINCT FROM ${symbol}`,
    tell: (found) => {
      return `${placeOf(lake, 'ledger', found)}: asset_symbol: expected ${symbol}, found ${found.asset_symbol}`
    },
  })
}

async function checkLabels(lake: Lake): Promise<void> {
  await lake.rows.run('CREATE TABLE labels (address VARCHAR, label VARCHAR)')
  await fillTable(lake.rows, 'labels', {
    items: lake.manifest.coverage.filter(({ label }) => label !== undefined),
    toValues: ({ address, label }) =>
      `(${literal(address)}, ${label ? literal(asCell(label, lake)) : 'NULL'})`,
  })
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!lake.whole.has(name)) continue
    await expectNone(lake, {
      sql: `SELECT f, r, wallet_label, label FROM ${name} JOIN labels ON wallet_address = address
            WHERE wallet_label IS DISTINCT FROM label`,
      tell: ({ label, ...found }) => {
        return `${placeOf(lake, name, found)}: wallet_label: expected ${label}, found ${found.wallet_label}`
      },
    })
  }
}

/** A text as its cell is read: where formulas are escaped, a `'` stands before what a spreadsheet would run. */
function asCell(text: string, { manifest: { job } }: Lake): string {
  return job.escapeFormulas === true && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}
