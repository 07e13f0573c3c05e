import { expect } from 'vitest'
import type { Job } from '../../../src/core/model/model.ts'
import { TABLE_NAMES, type TableName } from '../../../src/core/table/index.ts'
import { outputBytes } from '../output-bytes.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from '../read-output.ts'
import { FEE_COLUMNS, QUIRK_EFFECTS, type QuirkEffect } from './quirk-effects.ts'
import type { PlainExport, QuirkJob } from './quirk-job.ts'

export type Comparison = {
  plan: QuirkJob
  /** The job that was exported from the server with quirks. */
  job: Job
  plain: PlainExport
  /** Whether fees may be too high. */
  isOverstated: boolean
}

/** The tables are the same but for what the quirks may show; if they show nothing, all files of one run are. */
export async function expectSameExport(comparison: Comparison): Promise<void> {
  const { plan, job, plain } = comparison
  const effects = plan.quirks.map(effectOf)
  const sameFees = job.fees !== 'listed' && job.feesBudget === plain.job.feesBudget
  const isOneRun = plan.heads.length === 1
  if (isOneRun && sameFees && effects.every(({ changesItems }) => !changesItems))
    expect(outputBytes(job.output)).toEqual(outputBytes(plain.job.output))
  expect(coverageOf(job)).toEqual(coverageOf(plain.job))
  for (const table of TABLE_NAMES) await expectSameTable(table, effects, comparison)
}

const effectOf = (quirk: QuirkJob['quirks'][number]): QuirkEffect =>
  (QUIRK_EFFECTS as Partial<Record<string, QuirkEffect>>)[quirk] ?? { changesItems: true }

const coverageOf = ({ output }: Job) => readManifest(output).coverage

async function expectSameTable(
  table: TableName,
  effects: readonly QuirkEffect[],
  { job, plain, isOverstated }: Comparison,
): Promise<void> {
  const ignored = new Set([
    ...effects.flatMap(({ columns }) => columns?.[table] ?? []),
    ...effects.flatMap(({ adds }) => adds?.[table] ?? []),
    // The price that was paid is unknown where fees are upper bounds, even if it is listed.
    ...(readManifest(job.output).feesUpperBound ? (['effective_gas_price'] as const) : []),
    ...(isOverstated ? (FEE_COLUMNS[table] ?? []) : []),
  ])
  const compared = (row: TextRow) => comparableRow(row, { ignored, isOverstated })
  const [rows, expected] = [await readTable(job, table), await readTable(plain.job, table)].map((read) =>
    read.map(compared),
  ) as [string[], string[]]
  if (effects.every(({ adds }) => adds?.[table] === undefined))
    expect([table, rows]).toEqual([table, expected])
  else expect([table, missingRows(rows, expected)]).toEqual([table, []])
}

type Ignored = { ignored: ReadonlySet<string>; isOverstated: boolean }

function comparableRow(row: TextRow, { ignored, isOverstated }: Ignored): string {
  const isFee = isOverstated && row.entry_type === 'fee'
  return Object.entries(row)
    .filter(([name]) => !ignored.has(name) && !(isFee && (name === 'value' || name === 'amount')))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
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
