import type { Manifest } from '../../core/model/manifest.ts'
import type { TableName } from '../../core/table/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { Found, Rows } from '../../read/scratch-database.ts'

/** Violations of one kind that are told one by one. */
const SAMPLES = 3

/** An output whose rows are loaded: one scratch table a table, named like it, with `f` (file), `r` (row) and cells. */
export type Lake = {
  readonly rows: Rows
  readonly manifest: Manifest
  readonly findings: Findings
  /** Tables of which every file could be read: only these can be held against each other. */
  readonly whole: ReadonlySet<TableName>
}

/**
 * Counts one check; every row that the query yields breaks it. The first few are told, the others counted.
 *
 * @param violation.sql a query whose rows are the violations
 * @param violation.tell makes the line of a problem from such a row
 */
export async function expectNone(
  { rows, findings }: Pick<Lake, 'rows' | 'findings'>,
  violation: { sql: string; tell: (found: Found) => string },
): Promise<void> {
  const samples = await rows.all(`SELECT * FROM (${violation.sql}) LIMIT ${SAMPLES}`)
  findings.expect(samples.length === 0, () => violation.tell(samples[0] as Found))
  for (const sample of samples.slice(1)) findings.problem(violation.tell(sample))
  if (samples.length < SAMPLES) return
  const [total] = await rows.all(`SELECT count(*) AS n FROM (${violation.sql})`)
  findings.more(Number(total?.n) - SAMPLES)
}

/** Rows of values in one SQL statement. */
const BATCH = 5000

/** Fills a scratch table: of each item `toValues` makes a row, in SQL. */
export async function fillTable<T>(
  { run }: Pick<Rows, 'run'>,
  table: string,
  { items, toValues }: { items: readonly T[]; toValues: (item: T) => string },
): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) {
    const values = items.slice(at, at + BATCH).map(toValues)
    await run(`INSERT INTO ${table} VALUES ${values.join(', ')}`)
  }
}

/** `<path> row <n>`, the first row after a header being 1. The row found must hold `f` and `r`. */
export function placeOf({ manifest }: Lake, table: TableName, { f, r }: Found): string {
  return `${manifest.tables[table]?.files[Number(f)]?.path ?? table} row ${r}`
}

/** Of these tables, the ones that the output has and that could be read whole. */
export function wholeOf(lake: Lake, names: readonly TableName[]): TableName[] {
  return names.filter((name) => lake.whole.has(name))
}
