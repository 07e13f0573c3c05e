import { isFormula } from '../../core/platform/csv-text.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import { hasEscapedText } from '../../formats/index.ts'
import { type CheckedExport, expectNone, fillTable, rowLocation } from './checked-export.ts'

/** Checks that rows have the wallet labels and the native symbol that the manifest records, if it records them. */
export async function checkJobSettings(checkedExport: CheckedExport): Promise<void> {
  await checkLabels(checkedExport)
  const { nativeSymbol } = checkedExport.manifest.job
  if (nativeSymbol === undefined || !checkedExport.completeTables.has('ledger')) return
  const symbol = nativeSymbol === null ? 'NULL' : quoteLiteral(nativeSymbol)
  await expectNone(checkedExport, {
    sql: `SELECT f, r, asset_symbol FROM ledger
          WHERE asset_type = 'native' AND asset_symbol IS DISTINCT FROM ${symbol}`,
    describe: (found) => {
      return `${rowLocation(checkedExport, 'ledger', found)}: asset_symbol: expected ${symbol}, found ${found.asset_symbol}`
    },
  })
}

async function checkLabels(checkedExport: CheckedExport): Promise<void> {
  await checkedExport.database.run('CREATE TABLE labels (address VARCHAR, label VARCHAR)')
  await fillTable(checkedExport.database, 'labels', {
    items: checkedExport.manifest.coverage.filter(({ label }) => label !== undefined),
    toValues: ({ address, label }) => `(${quoteLiteral(address)}, ${label ? quoteLiteral(label) : 'NULL'})`,
  })
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!checkedExport.completeTables.has(name)) continue
    await expectNone(checkedExport, {
      sql: `SELECT f, r, wallet_label, label FROM ${name} JOIN labels ON wallet_address = address
            WHERE wallet_label IS DISTINCT FROM label`,
      describe: ({ label, ...found }) => {
        return `${rowLocation(checkedExport, name, found)}: wallet_label: expected ${asCell(label, checkedExport)}, found ${asCell(found.wallet_label, checkedExport)}`
      },
    })
  }
}

/** The text as files of the export contain it, for messages. */
function asCell(value: unknown, { manifest: { job } }: CheckedExport): string {
  const text = String(value)
  return hasEscapedText(job) && isFormula(text) ? `'${text}` : text
}
