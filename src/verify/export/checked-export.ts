import type { Manifest } from '../../core/model/manifest.ts'
import type { TableName } from '../../core/table/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { ResultRow, ScratchDatabase } from '../../read/scratch-database.ts'

/** Maximum number of violations of one check that are listed individually. */
const MAX_SAMPLES = 3

/**
 * An export whose rows are loaded. Each table has a scratch table of the same name with the columns `f` (index of the
 * file in the manifest), `r` (row number in the table) and the cells that checks need.
 */
export type CheckedExport = {
  readonly database: ScratchDatabase
  readonly manifest: Manifest
  readonly findings: Findings
  /** Tables whose files could all be read. Only these can be compared with each other. */
  readonly completeTables: ReadonlySet<TableName>
  /** `r` of the first row of each file, by path. */
  readonly firstRows: ReadonlyMap<string, number>
}

/**
 * Records one check, which fails if the query returns rows. Lists the first violations and counts the others.
 *
 * @param sql a query that returns one row per violation
 * @param describe formats such a row as a problem line
 */
export async function expectNone(
  { database, findings }: Pick<CheckedExport, 'database' | 'findings'>,
  sql: string,
  describe: (row: ResultRow) => string,
): Promise<void> {
  const samples = await database.all(`SELECT * FROM (${sql}) LIMIT ${MAX_SAMPLES}`)
  findings.expect(samples.length === 0, () => describe(samples[0] as ResultRow))
  for (const sample of samples.slice(1)) findings.addProblem(describe(sample))
  if (samples.length < MAX_SAMPLES) return
  const [total] = await database.all(`SELECT count(*) AS n FROM (${sql})`)
  findings.addUnlisted(Number(total?.n) - MAX_SAMPLES)
}

/** Like `expectNone` for rows of a table, which the query returns with `f` and `r`: the problem follows their location. */
export function expectNoRow(
  checkedExport: CheckedExport,
  table: TableName,
  sql: string,
  problem: (row: ResultRow) => string,
): Promise<void> {
  return expectNone(checkedExport, sql, (row) => `${rowLocation(checkedExport, table, row)}: ${problem(row)}`)
}

/** Formats a row's location as `<path> row <n>`; the first row after the header is 1. */
export function rowLocation(
  { manifest, firstRows }: Pick<CheckedExport, 'manifest' | 'firstRows'>,
  table: TableName,
  { f, r }: ResultRow,
): string {
  const path = manifest.tables[table]?.files[Number(f)]?.path ?? table
  return `${path} row ${Number(r) - (firstRows.get(path) ?? 0) + 1}`
}

/** Whether a table's files could all be read and, as the manifest says, have rows. */
export function hasRows({ manifest, completeTables }: CheckedExport, name: TableName): boolean {
  return completeTables.has(name) && manifest.tables[name]?.rows !== 0
}

/** Filters the tables that the export contains and whose files could all be read. */
export function completeTablesOf(checkedExport: CheckedExport, names: readonly TableName[]): TableName[] {
  return names.filter((name) => checkedExport.completeTables.has(name))
}
