import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { DEFAULT_TABLES, type TableName } from '../../../src/core/table/index.ts'
import { outputBytes } from '../output-bytes.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from '../read-output.ts'
import { QUIRK_EFFECTS, type QuirkEffect } from './quirk-effects.ts'
import type { QuirkJob } from './quirk-job.ts'

/** What an export lacks because of its options: exact fees, receipts of internal transactions, or atomic transactions. */
export type Gap = 'fees' | 'internals' | 'atomic'

export type Comparison = {
  plan: QuirkJob
  /** The job that was exported from the server with quirks. */
  job: Job
  /** The same job, exported in one run from a server without quirks. */
  plain: Job
  /** What the job lacks; `plain` has everything. */
  gaps: readonly Gap[]
}

/** The tables are the same but for what the quirks may show; if they show nothing, all files of one run are. */
export async function expectSameExport(comparison: Comparison): Promise<void> {
  const { plan, job, plain } = comparison
  if (plan.heads.length === 1 && hasSameFiles(comparison))
    expect(outputBytes(job.output)).toEqual(outputBytes(plain.output))
  // The last listed transactions define the end of an export without endBlock.
  if (!comparison.gaps.includes('internals')) expect(coverageOf(job)).toEqual(coverageOf(plain))
  for (const table of DEFAULT_TABLES) await expectSameTable(table, comparison)
}

function hasSameFiles({ plan, job, plain, gaps }: Comparison): boolean {
  if (gaps.length > 0 || job.atomic !== plain.atomic || job.internals !== plain.internals) return false
  if (job.fees !== plain.fees || job.feesBudget !== plain.feesBudget) return false
  const isSame = ({ changes }: QuirkEffect) => changes === 'nothing' || (changes === 'raw' && !job.keepRaw)
  return plan.quirks.map(effectOf).every(isSame)
}

const effectOf = (quirk: QuirkJob['quirks'][number]): QuirkEffect =>
  (QUIRK_EFFECTS as Partial<Record<string, QuirkEffect>>)[quirk] ?? { changes: 'rows' }

const coverageOf = ({ output }: Job) => readManifest(output).coverage

async function expectSameTable(table: TableName, comparison: Comparison): Promise<void> {
  const { plan, job, plain } = comparison
  const isHidden = hiddenCells(table, comparison)
  const comparable = (row: TextRow) =>
    Object.entries(row)
      .filter(([name]) => !isHidden(row, name))
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
  const rows = (await readTable(job, table)).map(comparable)
  const expected = (await readTable(plain, table)).map(comparable)
  const hasMore = plan.quirks.map(effectOf).some(({ adds }) => adds?.[table] !== undefined)
  const lacksRows = comparison.gaps.some((gap) => gap !== 'fees')
  if (hasMore && lacksRows) return
  if (lacksRows) expect([table, missingRows(expected, rows)]).toEqual([table, []])
  else if (hasMore) expect([table, missingRows(rows, expected)]).toEqual([table, []])
  else expect([table, rows]).toEqual([table, expected])
}

/** Decides which cells may differ from those of the plain export. */
function hiddenCells(table: TableName, { plan, job, gaps }: Comparison) {
  const isOverstated = gaps.includes('fees')
  const effects = plan.quirks.map(effectOf)
  const always = new Set(
    effects.flatMap(({ columns, adds }) => [columns?.[table] ?? [], adds?.[table] ?? []].flat()),
  )
  const hasUpperBounds = (readManifest(job.output).feesUpperBound ?? 0) > 0
  const own = new Set(job.wallets.map(({ address }) => address))
  const isCapped = ({ from_address: sender = '' }: TextRow) =>
    isOverstated || (plan.quirks.includes('fee-cap') && !own.has(sender))
  return (row: TextRow, name: string): boolean => {
    if (always.has(name)) return true
    // Movements that are missing change the numbers of later ones, and what a wallet's view contains.
    if (gaps.includes('internals') && /^(entry_index|internal_transactions)$/.test(name)) return true
    if (table === 'ledger') return isOverstated && row.entry_type === 'fee' && /^(value|amount)$/.test(name)
    if (table !== 'transactions') return false
    // The price that was paid is unknown where fees are upper bounds, even if it is listed.
    if (name === 'effective_gas_price') return hasUpperBounds || isCapped(row)
    return name === 'transaction_fee' && isCapped(row)
  }
}

/** The expected rows that are missing. Each row counts for one. */
function missingRows(rows: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1)
  return expected.filter((row) => {
    const count = counts.get(row) ?? 0
    counts.set(row, count - 1)
    return count < 1
  })
}

function readTable({ output, format }: Job, table: TableName): Promise<TextRow[]> {
  return format === 'parquet' ? readParquetTable(output, table) : readCsvTable(output, table)
}

/** The rows of the transactions of an export. */
export const transactionsOf = (job: Job): Promise<TextRow[]> => readTable(job, 'transactions')

/** The rows of the ledger of an export. */
export const ledgerOf = (job: Job): Promise<TextRow[]> => readTable(job, 'ledger')
