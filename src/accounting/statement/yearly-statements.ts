import { openDataset } from '../../read/dataset.ts'
import { type Period, parsePeriod } from '../period.ts'
import { type ClosedPeriod, closePeriod } from './statement-lines.ts'
import { openLedgerSums, readSelectedRows, type SummedExport, type SumOptions } from './sum-ledger.ts'

/** The statement of a UTC year. */
export type YearStatement = ClosedPeriod & { year: string; currency: string | undefined }

/**
 * Yields the statement of every UTC year with rows, as `statement` returns it for that year, in one pass over the ledger.
 * Memory grows with the number of wallets and assets, not with the number of rows.
 *
 * @throws ExportError as `statement` does
 */
export async function* statementsByYear(
  output: string,
  { exports, ...options }: SumOptions & Pick<SummedExport, 'exports'>,
): AsyncGenerator<YearStatement> {
  const opened = await openDataset(output)
  try {
    const { manifest } = opened
    const sums = await openLedgerSums(opened, { output, options, period: ALL, exports })
    const { currency } = sums.valuation
    const close = (year: string): YearStatement => ({
      ...closePeriod(sums, { manifest, period: periodOf(year) }),
      year,
      currency,
    })
    let year = ''
    for await (const rows of readSelectedRows(opened, sums.selected)) {
      for (const row of rows) {
        const yearOfRow = row.block_timestamp.slice(0, 4)
        if (yearOfRow !== year) {
          if (year !== '') yield close(year)
          sums.startPeriod(periodOf(yearOfRow))
          year = yearOfRow
        }
        sums.add(row)
      }
    }
    if (year !== '') yield close(year)
  } finally {
    await opened.close()
  }
}

const ALL: Period = { from: '', to: '9999' }

const periodOf = (year: string) => parsePeriod(`${year}-01-01`, `${year}-12-31`)
