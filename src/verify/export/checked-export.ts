import type { Manifest } from '../../core/model/manifest.ts'
import type { TableName } from '../../core/table/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { ResultRow, ScratchDatabase } from '../../read/scratch-database.ts'

/** Violations of one kind that are told one by one. */
const MAX_SAMPLES = 3

/** An output whose rows are loaded: one scratch table a table, named like it, with `f` (file), `r` (row) and cells. */
export type CheckedExport = {
  readonly database: ScratchDatabase
  readonly manifest: Manifest
  readonly findings: Findings
  /** Tables of which every file could be read: only these can be held against each other. */
  readonly completeTables: ReadonlySet<TableName>
}

/**
 * Counts one check; every row that the query yields breaks it. The first few are told, the others counted.
 *
 * @param violation.sql a query whose rows are the violations
 * @param violation.tell makes the line of a problem from such a row
 */
export async function expectNone(
  { database, findings }: Pick<CheckedExport, 'database' | 'findings'>,
  violation: { sql: string; describe: (found: ResultRow) => string },
): Promise<void> {
  const samples = await database.all(`SELECT * FROM (${violation.sql}) LIMIT ${MAX_SAMPLES}`)
  findings.expect(samples.length === 0, () => violation.describe(samples[0] as ResultRow))
  for (const sample of samples.slice(1)) findings.addProblem(violation.describe(sample))
  if (samples.length < MAX_SAMPLES) return
  const [total] = await database.all(`SELECT count(*) AS n FROM (${violation.sql})`)
  findings.addUnlisted(Number(total?.n) - MAX_SAMPLES)
}

/** Rows of values in one SQL statement. */
const BATCH = 5000

/** Fills a scratch table: of each item `toValues` makes a row, in SQL. */
export async function fillTable<T>(
  { run }: Pick<ScratchDatabase, 'run'>,
  table: string,
  { items, toValues }: { items: readonly T[]; toValues: (item: T) => string },
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    const values = items.slice(at, at + BATCH).map(toValues)
    await run(`INSERT INTO ${table} VALUES ${values.join(', ')}`)
  }
}

/** `<path> row <n>`, the first row after a header being 1. The row found must hold `f` and `r`. */
export function rowLocation({ manifest }: CheckedExport, table: TableName, { f, r }: ResultRow): string {
  return `${manifest.tables[table]?.files[Number(f)]?.path ?? table} row ${r}`
}

/** Of these tables, the ones that the output has and that could be read whole. */
export function completeTablesOf(checkedExport: CheckedExport, names: readonly TableName[]): TableName[] {
  return names.filter((name) => checkedExport.completeTables.has(name))
}
