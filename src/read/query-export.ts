import { readFile } from 'node:fs/promises'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { loadDuckDb } from '../core/duckdb/connection.ts'
import { ExportError } from '../core/model/errors.ts'
import { entryAt } from '../core/platform/entry.ts'
import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import { inputError } from '../core/platform/user-file.ts'
import type { DataFile } from '../formats/format.ts'
import { requireManifest } from './dataset.ts'
import { oneLine } from './engine-message.ts'
import { withExactNumbers } from './exact-numbers.ts'
import { withExactSums } from './exact-sums.ts'
import { type ExactnessCheck, openExactnessCheck } from './exactness-check.ts'
import { createdPivotValues } from './pivot-values.ts'
import { OrderedUseError, type QueryErrorContext, rethrowQueryError } from './query-errors.ts'
import { planResult, type QueryResult, resultOf, type TypesShown } from './query-result.ts'
import { exportReplacedError, watchExport } from './replaced-export.ts'
import { openScratchDatabase, type ScratchDatabase } from './scratch-database.ts'
import { splitStatements, type Token } from './sql-tokens.ts'
import { areFilesReadable, makeViews } from './views.ts'

/**
 * Runs SQL statements on a finished export and yields their results one after the other. Each table is a view
 * of exactly the files that the manifest lists: 256-bit integers are BIGNUM, decimals have a type that
 * represents all of them exactly (`DecimalType`), times are UTC, text is unescaped, and `units(value,
 * decimals)` converts an integer to a decimal. Statements are read-only and have no access to other files or
 * to the network.
 *
 * @param folder Output folder of the export.
 * @param sql Statements separated by semicolons, in the SQL of DuckDB.
 * @param options CSV files of the user as further tables.
 * @returns One result per statement. Consume the rows of a result before requesting the next one.
 * @throws USAGE if the folder contains no export, for invalid SQL, for statements that are not read-only, and
 *   for statements whose result would not be exact. VERIFY_FAILED if the manifest is damaged or a file cannot
 *   be read or does not match the manifest; content is checked for tables that the statements reference,
 *   otherwise only the size. OUTPUT_LOCKED if another run replaced the export meanwhile.
 *
 * @example
 * ```ts
 * for await (const { columns, batches } of queryExport('output/treasury', 'SELECT count(*) FROM ledger'))
 *   for await (const rows of batches) console.log(columns, rows)
 * ```
 */
export async function* queryExport(
  folder: string,
  sql: string,
  options: QueryOptions = {},
): AsyncGenerator<QueryResult, void, void> {
  const watch = await watchExport(folder)
  try {
    yield* queryFiles(folder, sql, options)
  } catch (error) {
    const isDamage = error instanceof ExportError && error.code === 'VERIFY_FAILED'
    throw isDamage && (await watch.isReplaced()) ? exportReplacedError(folder) : error
  }
}

/** Options of `queryExport`. */
export type QueryOptions = {
  /**
   * CSV files (UTF-8, with a header) by the name of the table that a statement reads them as. Whole numbers, days, times and
   * booleans have types; everything else, also numbers with a point, is text, which `::DECIMAL(38, 18)` converts. @default none
   */
  tables?: ReadonlyMap<string, string>
}

/**
 * Runs the statements. A statement that computes with decimals of which some have too many digits runs a second time on
 * its own, with a decimal type that fits most of them: it succeeds if the rows that it selects fit.
 */
async function* queryFiles(
  folder: string,
  sql: string,
  { tables = new Map() }: QueryOptions,
  refusal?: ExportError,
): AsyncGenerator<QueryResult, void, void> {
  const manifest = await requireManifest(folder)
  const database = await openScratchDatabase(folder)
  const openedFiles: DataFile[] = []
  let exactness: ExactnessCheck | undefined
  try {
    const errorContext: QueryErrorContext = { folder, path: database.folder, refusal }
    const rethrow = (error: unknown) => rethrowQueryError(error, errorContext)
    const statements = splitStatements(sql)
    for (const [name, file] of tables) await loadCsv(database, name, file)
    const fitsMost = refusal !== undefined
    const views = { manifest, database, openedFiles, statements, fitsMost }
    const { types, sources } = await makeViews(views).catch(rethrow)
    errorContext.types = types
    errorContext.areFilesReadable = () => areFilesReadable(database, { sources, statements })
    const start = async (given: readonly Token[]): Promise<QueryResult> => {
      const exact = types.amount.kind === 'ordered' ? withExactSums(given) : given
      // Another column that is named amount is summed as what it is.
      const tokens = exact === given || (await canPrepare(database.connection, exact)) ? exact : given
      const prepared = await prepare(database.connection, tokens).catch(rethrow)
      if (prepared === undefined) throw notReadOnlyError()
      const { statement, pivotValues } = prepared
      if (statement.parameterCount > 0) throw parameterError()
      const computing = computingStatement(tokens)
      if (computing !== undefined) {
        exactness ??= await openExactnessCheck(database, types)
        await exactness.check({ tokens: computing, toSql: withExactNumbers, pivotValues })
      }
      // The second run must not return rows before one that does not fit.
      const result = await (fitsMost ? statement.run() : statement.stream()).catch(rethrow)
      const isPlan = EXPLAIN.test(firstWord(tokens))
      return isPlan
        ? planResult(result, (text) => text.replaceAll(`${database.folder}/`, ''))
        : resultOf(result, { rethrow, types: typesShownBy(tokens) })
    }
    for (const tokens of statements) {
      const started = await start(tokens).catch((error: unknown) => {
        if (refusal === undefined && error instanceof OrderedUseError) return error
        throw error
      })
      if (!(started instanceof OrderedUseError)) yield started
      else yield* queryFiles(folder, tokens.map(({ text }) => text).join(''), { tables }, started)
    }
  } finally {
    exactness?.close()
    for (const file of openedFiles) await file.close()
    await database.close()
  }
}

/** Loads a CSV file of the user as a table, before the database loses its access to files. */
async function loadCsv(database: ScratchDatabase, name: string, file: string): Promise<void> {
  const types = ['BOOLEAN', 'BIGINT', 'DATE', 'TIMESTAMP', 'VARCHAR'].map(quoteLiteral).join(', ')
  const source = `read_csv(${quoteLiteral(file)}, header = true, auto_type_candidates = [${types}], sample_size = -1)`
  // A name with * or ? would be a pattern of several files.
  const entry = await entryAt(file)
  if (!entry?.isFile()) throw inputError(file, Object.assign(new Error(), { code: 'ENOENT' }), CSV_FIX)
  // DuckDB reads it as a table with one column and no rows.
  if (entry.size < MAX_BLANK_BYTES && (await readFile(file, 'utf8')).trim() === '')
    throw new ExportError('USAGE', `cannot read ${file}: it is empty`, { fix: CSV_FIX })
  try {
    await database.run(`CREATE TABLE ${quoteIdentifier(name)} AS SELECT * FROM ${source}`)
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n')
    throw new ExportError('USAGE', `cannot read ${file}: ${oneLine(reason)}`, { cause, fix: CSV_FIX })
  }
}

/** A larger file is not read to find out whether it has white space only. */
const MAX_BLANK_BYTES = 64

const CSV_FIX = 'Name a CSV file with a header, in UTF-8.'

const READ_ONLY_STATEMENT = /^(select|with|from|values|table|pivot|unpivot|describe|desc|show|summarize|\()$/i
/** Statements that may compute with values of the tables. */
const COMPUTING_STATEMENT = /^(select|with|from|values|table|pivot|unpivot|\()$/i
const EXPLAIN = /^explain$/i
const DESCRIPTION = /^(describe|desc|show|summarize)$/i

/** Which text of a result may name the internal type of amounts. */
function typesShownBy(tokens: readonly Token[]): TypesShown {
  if (DESCRIPTION.test(firstWord(tokens))) return 'within text'
  return tokens.some(({ text }) => text.toLowerCase() === 'typeof') ? 'as whole cells' : 'none'
}

const firstWord = (tokens: readonly Token[]) => tokens.find(({ kind }) => kind !== 'space')?.text ?? ''

/**
 * The statement whose exactness is checked: the statement itself, or the one that SUMMARIZE evaluates; undefined if
 * there is none.
 */
function computingStatement(tokens: readonly Token[]): readonly Token[] | undefined {
  const isSummary = /^summarize$/i.test(firstWord(tokens))
  const statement = isSummary ? tokens.slice(tokens.findIndex(({ kind }) => kind !== 'space') + 1) : tokens
  return COMPUTING_STATEMENT.test(firstWord(statement)) ? statement : undefined
}

type PreparedQuery = { statement: DuckDBPreparedStatement; pivotValues: readonly (readonly string[])[] }

const canPrepare = (connection: DuckDBConnection, tokens: readonly Token[]): Promise<boolean> =>
  prepare(connection, tokens).then(
    () => true,
    () => false,
  )

/** Prepares a read-only statement; undefined if the statement is not read-only. */
async function prepare(
  connection: DuckDBConnection,
  tokens: readonly Token[],
): Promise<PreparedQuery | undefined> {
  const { StatementType } = await loadDuckDb()
  if (EXPLAIN.test(firstWord(tokens))) {
    const { statement, isRun } = explainTarget(tokens)
    if ((await prepare(connection, statement)) === undefined) return undefined
    const keyword = isRun ? 'EXPLAIN ANALYZE' : 'EXPLAIN'
    const explaining = await connection.prepare(`${keyword} ${withExactNumbers(statement)}`)
    return { statement: explaining, pivotValues: [] }
  }
  const statements = await connection.extractStatements(withExactNumbers(tokens))
  if (!READ_ONLY_STATEMENT.test(firstWord(tokens))) return undefined
  // A PIVOT without a list of values is extracted as several statements: the first ones create an ENUM of the
  // values.
  for (let at = 0; at < statements.count - 1; at += 1) {
    const first = await statements.prepare(at)
    if (first.statementType !== StatementType.CREATE) return undefined
    await first.run()
  }
  const last = await statements.prepare(statements.count - 1)
  if (last.statementType !== StatementType.SELECT) return undefined
  return { statement: last, pivotValues: await createdPivotValues(connection, statements.count - 1) }
}

/** The statement that an EXPLAIN explains. Options in parentheses are dropped: the plan is always text. */
function explainTarget(tokens: readonly Token[]): { statement: readonly Token[]; isRun: boolean } {
  const significantTokens = tokens.filter(({ kind }) => kind !== 'space').slice(1)
  const isRun = /^analy[sz]e$/i.test(significantTokens[0]?.text ?? '')
  const start = significantTokens[isRun ? 1 : 0]
  return { statement: start === undefined ? [] : tokens.slice(tokens.indexOf(start)), isRun }
}

function notReadOnlyError(): ExportError {
  return new ExportError('USAGE', 'the statement is not read-only', {
    fix: 'Use SELECT, WITH, PIVOT, DESCRIBE, SUMMARIZE, EXPLAIN or SHOW TABLES; write the result to a file with --format csv > FILE.',
  })
}

function parameterError(): ExportError {
  return new ExportError('USAGE', 'the statement contains parameters', {
    fix: 'Write values instead of ? and $1.',
  })
}
