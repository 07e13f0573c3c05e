import { type DataFile, openDataFile, wholeFile } from '../core/duckdb/data-file.ts'
import { csvSource, parquetSource, typedColumns, unescapedSql } from '../core/duckdb/source-sql.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { largest } from '../core/platform/extremes.ts'
import { literal, named } from '../core/platform/sql.ts'
import { type Column, TABLES, type Table } from '../core/table/index.ts'
import { checkContent, checkSize } from './check-files.ts'
import {
  type DecimalType,
  type Digits,
  decimalTypeFor,
  digitsIn,
  digitsOfDecimals,
  digitsOfValues,
  exactDecimalSql,
  mostDigits,
  unitsMacros,
} from './exact-amounts.ts'
import type { Rows } from './scratch-database.ts'
import type { Token } from './sql-tokens.ts'

export type Viewing = {
  manifest: Manifest
  rows: Rows
  /** Takes the files that are to be closed at the end. */
  opened: DataFile[]
  statements: readonly (readonly Token[])[]
}

/** The types that decimals have in the views. */
export type DecimalTypes = { amount: DecimalType; price_value: DecimalType }

/** Makes the views, and lets the engine read their files and nothing else from here on. */
export async function makeViews({ manifest, rows, opened, statements }: Viewing): Promise<DecimalTypes> {
  const words = statements.map(wordsIn)
  const sources = new Map<Table, string>()
  for (const table of TABLES) {
    const listed = manifest.tables[table.name]
    if (listed === undefined) continue
    // Only files that are asked for are worth a look at their content.
    const isAsked = words.some((some) => some.has(table.name))
    const [open, check] = isAsked ? [openDataFile, checkContent] : [wholeFile, checkSize]
    const files: DataFile[] = []
    for (const { path: name, bytes, sha256 } of listed.files) {
      const path = `${rows.folder}/${name}`
      await check({ name, path, bytes, sha256 })
      files.push(await open(path, manifest.job.format, rows.scratch))
    }
    for (const each of files) opened.push(each)
    sources.set(table, sourceOf(table, files))
  }
  const types = await decimalTypes({ rows, statements, words, sources })
  for (const [table, source] of sources)
    await rows.run(`CREATE VIEW ${named(table.name)} AS ${viewSql(table, source, { manifest, types })}`)
  const paths = opened.flatMap((file) => file.paths.map(literal))
  for (const setting of [
    ...unitsMacros(types.amount),
    "SET TimeZone = 'UTC'",
    `SET allowed_paths = [${paths.join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ])
    await rows.run(setting)
  return types
}

const wordsIn = (tokens: readonly Token[]): ReadonlySet<string> =>
  new Set(
    tokens
      .filter(({ kind }) => kind === 'word' || kind === 'quoted')
      .map(({ text }) => text.toLowerCase().replaceAll(/["']/g, '')),
  )

type Measuring = Pick<Viewing, 'rows' | 'statements'> & {
  words: readonly ReadonlySet<string>[]
  sources: ReadonlyMap<Table, string>
}

/**
 * Looks at the digits of the tables that statements name, where statements may use decimals. A decimal that is used all
 * the same fails in its view where it does not fit.
 */
async function decimalTypes({ rows, statements, words, sources }: Measuring): Promise<DecimalTypes> {
  const digits = { amount: [] as Digits[], price_value: [] as Digits[] }
  const measure = async (kind: keyof DecimalTypes, sql: string | undefined) => {
    if (sql !== undefined) digits[kind].push(digitsIn((await rows.all(sql))[0]))
  }
  for (const [table, source] of sources) {
    const asking = statements.filter((_, at) => words[at]?.has(table.name))
    for (const kind of ['amount', 'price_value'] as const) {
      const isThere = table.columns.some(({ name }) => name === kind)
      if (isThere && asking.some((tokens) => mayUse(tokens, kind)))
        await measure(kind, digitsOfDecimals(kind, source))
    }
    if (asking.some((tokens) => wordsIn(tokens).has('units')))
      await measure('amount', digitsOfValues(table, source))
  }
  return {
    amount: decimalTypeFor(mostDigits(digits.amount)),
    price_value: decimalTypeFor(mostDigits(digits.price_value)),
  }
}

/** False where a statement surely has no use for a column of the tables that it names. */
function mayUse(tokens: readonly Token[], column: string): boolean {
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
  const unescapes = job.format === 'csv' && (job.escapeFormulas ?? true)
  const cells = table.columns.map(
    (column) => `${cellSql(column, { unescapes, types })} AS ${named(column.name)}`,
  )
  return `SELECT ${cells.join(', ')} FROM ${source}`
}

function cellSql(
  { name, type, isOurs }: Column,
  { unescapes, types }: { unescapes: boolean; types: DecimalTypes },
): string {
  const cell = named(name)
  if (type === 'u256' || type === 'i256') return `${cell}::BIGNUM`
  if (type === 'decimal') return exactDecimalSql(cell, name === 'amount' ? types.amount : types.price_value)
  return type === 'text' && !isOurs && unescapes ? unescapedSql(cell) : cell
}

/** The rows of a table. CSV that is packed and CSV that is not are two sources. */
function sourceOf(table: Table, files: readonly DataFile[]): string {
  const { columns } = table
  if (files.length === 0) return emptySource(table)
  const pathsOf = (some: readonly DataFile[]) => some.flatMap(({ paths }) => paths)
  if (files[0]?.format === 'parquet') return parquetSource(pathsOf(files))
  const longest = largest(files.map((file) => file.longest))
  const sources = [false, true].flatMap((isPacked) => {
    const paths = pathsOf(files.filter((file) => file.isPacked === isPacked))
    return paths.length === 0 ? [] : [csvSource({ paths, isPacked, longest }, typedColumns(columns))]
  })
  const [only, more] = sources
  if (only !== undefined && more === undefined) return only
  return `(${sources.map((source) => `SELECT * FROM ${source}`).join(' UNION ALL ')})`
}

function emptySource({ columns }: Table): string {
  const cells = typedColumns(columns).map(({ name, type }) => `NULL::${type} AS ${named(name)}`)
  return `(SELECT ${cells.join(', ')} WHERE false)`
}
