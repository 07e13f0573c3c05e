import type { Manifest } from '../core/model/manifest.ts'
import { largest } from '../core/platform/extremes.ts'
import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import { type Column, TABLES, type Table } from '../core/table/index.ts'
import { typedColumns, unescapedSql } from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { hasEscapedText, openDataFile, sourceSql, unsplitFile } from '../formats/index.ts'
import { checkContent, checkSize } from './check-files.ts'
import {
  DEFAULT_TYPE,
  type DecimalType,
  type Digits,
  decimalDigitsSql,
  decimalTypeFor,
  exactDecimalSql,
  maxDigits,
  parseDigits,
  unitsMacros,
  valueDigitsSql,
} from './exact-amounts.ts'
import { exactSumMacro } from './exact-sums.ts'
import type { ScratchDatabase } from './scratch-database.ts'
import type { Token } from './sql-tokens.ts'

export type QueryViewOptions = {
  manifest: Manifest
  database: ScratchDatabase
  /** Receives the opened files, which the caller closes. */
  openedFiles: DataFile[]
  statements: readonly (readonly Token[])[]
  /** Choose decimal types that compute although some decimals do not fit: these fail in their view. @default false */
  fitsMost?: boolean
}

/** Types of decimals in the views. */
export type DecimalTypes = { amount: DecimalType; price_value: DecimalType }

/** `sources`: SQL for the rows of the tables' files. */
export type QueryViews = { types: DecimalTypes; sources: ReadonlyMap<Table, string> }

/** Creates the views. From then on DuckDB can read only their files. */
export async function makeViews({
  manifest,
  database,
  openedFiles,
  statements,
  fitsMost = false,
}: QueryViewOptions): Promise<QueryViews> {
  const identifiers = statements.map(identifiersIn)
  const sources = new Map<Table, string>()
  for (const table of TABLES) {
    const listed = manifest.tables[table.name]
    if (listed === undefined) continue
    // Only the content of referenced tables is checked.
    const isReferenced = identifiers.some((identifiersOfStatement) => identifiersOfStatement.has(table.name))
    const [open, check] = isReferenced ? [openDataFile, checkContent] : [unsplitFile, checkSize]
    const files: DataFile[] = []
    for (const { path: name, bytes, sha256 } of listed.files) {
      const path = `${database.folder}/${name}`
      await check({ name, path, bytes, sha256 })
      files.push(await open(path, manifest.job.format, database.scratchFolder))
    }
    for (const each of files) openedFiles.push(each)
    sources.set(table, sourceOf(table, files))
  }
  const measured = await decimalTypes({ database, statements, identifiers, sources })
  const types = fitsMost ? computableTypes(measured) : measured
  for (const [table, source] of sources)
    await database.run(
      `CREATE VIEW ${quoteIdentifier(table.name)} AS ${viewSql(table, source, { manifest, types })}`,
    )
  const paths = openedFiles.flatMap((file) => file.paths.map(quoteLiteral))
  for (const setting of [
    ...unitsMacros(types.amount),
    ...(types.amount.kind === 'ordered' ? [exactSumMacro(types.amount)] : []),
    "SET TimeZone = 'UTC'",
    `SET allowed_paths = [${paths.join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ])
    await database.run(setting)
  return { types, sources }
}

/**
 * Whether the files of all tables that statements may reference can be read. Reads all their rows, but converts none.
 */
export async function areFilesReadable(
  database: ScratchDatabase,
  { sources, statements }: Pick<QueryViewOptions, 'statements'> & Pick<QueryViews, 'sources'>,
): Promise<boolean> {
  const texts = statements.flatMap((tokens) => tokens.map(({ text }) => text.toLowerCase()))
  for (const [{ name }, source] of sources) {
    // query_table('ledger') names a table in a text.
    if (!texts.some((text) => text.includes(name))) continue
    const isReadable = await database
      .all(`SELECT bit_xor(hash(file_row)) AS hash FROM ${source} AS file_row`)
      .then(
        () => true,
        () => false,
      )
    if (!isReadable) return false
  }
  return true
}

const identifiersIn = (tokens: readonly Token[]): ReadonlySet<string> =>
  new Set(
    tokens
      .filter(({ kind }) => kind === 'word' || kind === 'quoted')
      .map(({ text }) => text.toLowerCase().replaceAll(/["']/g, '')),
  )

type MeasureOptions = Pick<QueryViewOptions, 'database' | 'statements'> & {
  identifiers: readonly ReadonlySet<string>[]
  sources: ReadonlyMap<Table, string>
}

/**
 * Chooses the types from the digits in the referenced tables, if statements may use decimals. If a statement
 * uses a decimal nevertheless, a value that does not fit fails in its view.
 */
async function decimalTypes({
  database,
  statements,
  identifiers,
  sources,
}: MeasureOptions): Promise<DecimalTypes> {
  const digits = { amount: [] as Digits[], price_value: [] as Digits[] }
  const measure = async (kind: keyof DecimalTypes, sql: string | undefined) => {
    if (sql !== undefined) digits[kind].push(parseDigits((await database.all(sql))[0]))
  }
  for (const [table, source] of sources) {
    const referencing = statements.filter((_, at) => identifiers[at]?.has(table.name))
    for (const kind of ['amount', 'price_value'] as const) {
      const hasColumn = table.columns.some(({ name }) => name === kind)
      if (hasColumn && referencing.some((tokens) => mayReference(tokens, kind)))
        await measure(kind, decimalDigitsSql(kind, source))
    }
    if (referencing.some((tokens) => identifiersIn(tokens).has('units')))
      await measure('amount', valueDigitsSql(table, source))
  }
  return {
    amount: decimalTypeFor(maxDigits(digits.amount)),
    price_value: decimalTypeFor(maxDigits(digits.price_value)),
  }
}

/** The types, of which those that can only be ordered are replaced by the one that fits the most decimals. */
function computableTypes({ amount, price_value }: DecimalTypes): DecimalTypes {
  const computable = (type: DecimalType) => (type.kind === 'ordered' ? DEFAULT_TYPE : type)
  return { amount: computable(amount), price_value: computable(price_value) }
}

/**
 * Whether a statement may use a column of the tables that it references; false only if it certainly does not.
 */
function mayReference(tokens: readonly Token[], column: string): boolean {
  const words = tokens.filter(({ kind }) => kind !== 'space').map(({ text }) => text.toLowerCase())
  if (!/^(select|with)$/.test(words[0] ?? '')) return true
  const sql = words.join(' ').replaceAll('count ( * )', '')
  return new RegExp(`\\b${column}\\b|\\*|\\bunits\\b|\\bcolumns\\b`).test(sql)
}

function viewSql(
  table: Table,
  source: string,
  { manifest: { job }, types }: { manifest: Manifest; types: DecimalTypes },
): string {
  const unescapes = hasEscapedText(job)
  const cells = table.columns.map(
    (column) => `${cellSql(column, { unescapes, types })} AS ${quoteIdentifier(column.name)}`,
  )
  return `SELECT ${cells.join(', ')} FROM ${source}`
}

function cellSql(
  { name, type, isGenerated }: Column,
  { unescapes, types }: { unescapes: boolean; types: DecimalTypes },
): string {
  const cell = quoteIdentifier(name)
  if (type === 'u256' || type === 'i256') return `${cell}::BIGNUM`
  if (type === 'decimal') return exactDecimalSql(cell, name === 'amount' ? types.amount : types.price_value)
  return type === 'text' && !isGenerated && unescapes ? unescapedSql(cell) : cell
}

/** SQL source of a table's rows. Compressed and uncompressed files are read by separate sources. */
function sourceOf(table: Table, files: readonly DataFile[]): string {
  const { columns } = table
  const maxRowBytes = largest(files.map((file) => file.maxRowBytes))
  const sources = [false, true].flatMap((isGzipped) => {
    const group = files.filter((file) => file.isGzipped === isGzipped)
    const paths = group.flatMap((file) => file.paths)
    const [first] = group
    return first === undefined ? [] : [sourceSql({ ...first, paths, maxRowBytes }, typedColumns(columns))]
  })
  const [first, second] = sources
  if (first === undefined) return emptySource(table)
  if (second === undefined) return first
  return `(${sources.map((source) => `SELECT * FROM ${source}`).join(' UNION ALL ')})`
}

function emptySource({ columns }: Table): string {
  const cells = typedColumns(columns).map(({ name, type }) => `NULL::${type} AS ${quoteIdentifier(name)}`)
  return `(SELECT ${cells.join(', ')} WHERE false)`
}
