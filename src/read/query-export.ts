import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import type { DataFile } from '../core/duckdb/data-file.ts'
import { ExportError } from '../core/model/errors.ts'
import { withExactNumbers } from './exact-numbers.ts'
import { type ExactnessCheck, openExactnessCheck } from './exactness-check.ts'
import { requireManifest } from './open-export.ts'
import { type QueryErrorContext, rethrowQueryError } from './query-errors.ts'
import { planResult, type QueryResult, resultOf } from './query-result.ts'
import { openScratchDatabase } from './scratch-database.ts'
import { splitStatements, type Token } from './sql-tokens.ts'
import { makeViews } from './views.ts'

/**
 * The answers of SQL statements over a finished export, one after the other. Each table is a view over exactly the files
 * that the manifest lists: whole numbers of 256 bits are BIGNUM, decimals are of a type that holds all of them exactly
 * (`DecimalType`), times are UTC, text is as the chain has it, and `units(value, decimals)` makes a decimal of a whole
 * number. Statements change nothing, and reach no other file and no network.
 *
 * Throws USAGE where the folder holds no export, for what is no SQL or does more than read, and for what would not be
 * exact; VERIFY_FAILED where the manifest is damaged, or a file cannot be read or is not what the manifest lists: of tables
 * that statements name the content is checked, of others the size.
 */
export async function* queryExport(folder: string, sql: string): AsyncGenerator<QueryResult, void, void> {
  const manifest = await requireManifest(folder)
  const database = await openScratchDatabase(folder)
  const openedFiles: DataFile[] = []
  let exactness: ExactnessCheck | undefined
  try {
    const errorContext: QueryErrorContext = { folder, path: database.folder }
    const rethrow = (thrown: unknown) => rethrowQueryError(thrown, errorContext)
    const statements = splitStatements(sql)
    const types = await makeViews({ manifest, database, openedFiles, statements }).catch(rethrow)
    errorContext.types = types
    for (const tokens of statements) {
      const statement = await prepare(database.connection, tokens).catch(rethrow)
      if (statement === undefined) throw notReadOnlyError()
      if (COMPUTING_STATEMENT.test(firstWord(tokens))) {
        exactness ??= await openExactnessCheck(database, types)
        await exactness.check(tokens, withExactNumbers)
      }
      const result = await statement.stream().catch(rethrow)
      const isPlan = EXPLAIN.test(firstWord(tokens))
      yield await (isPlan
        ? planResult(result, (text) => text.replaceAll(`${database.folder}/`, ''))
        : resultOf(result, rethrow))
    }
  } finally {
    exactness?.close()
    for (const file of openedFiles) await file.close()
    await database.close()
  }
}

const READ_ONLY_STATEMENT = /^(select|with|from|values|table|pivot|unpivot|describe|desc|show|summarize|\()$/i
/** Statements that may compute with what is in the tables. */
const COMPUTING_STATEMENT = /^(select|with|from|values|table|pivot|unpivot|\()$/i
const EXPLAIN = /^explain$/i

const firstWord = (tokens: readonly Token[]) => tokens.find(({ kind }) => kind !== 'space')?.text ?? ''

/** A statement that only reads, ready to run; undefined where it does something else. */
async function prepare(
  connection: DuckDBConnection,
  tokens: readonly Token[],
): Promise<DuckDBPreparedStatement | undefined> {
  const { StatementType } = await import('@duckdb/node-api')
  if (EXPLAIN.test(firstWord(tokens))) {
    const { statement, isRun } = explainTarget(tokens)
    if ((await prepare(connection, statement)) === undefined) return undefined
    const keyword = isRun ? 'EXPLAIN ANALYZE' : 'EXPLAIN'
    return connection.prepare(`${keyword} ${withExactNumbers(statement)}`)
  }
  const statements = await connection.extractStatements(withExactNumbers(tokens))
  if (!READ_ONLY_STATEMENT.test(firstWord(tokens))) return undefined
  // A PIVOT without a list of values becomes several statements: the first ones make an ENUM of the values.
  for (let at = 0; at < statements.count - 1; at += 1) {
    const first = await statements.prepare(at)
    if (first.statementType !== StatementType.CREATE) return undefined
    await first.run()
  }
  const last = await statements.prepare(statements.count - 1)
  return last.statementType === StatementType.SELECT ? last : undefined
}

/** What an EXPLAIN is about. Options in parentheses are left out: the plan is text. */
function explainTarget(tokens: readonly Token[]): { statement: readonly Token[]; isRun: boolean } {
  const significantTokens = tokens.filter(({ kind }) => kind !== 'space').slice(1)
  const isRun = /^analy[sz]e$/i.test(significantTokens[0]?.text ?? '')
  const start = significantTokens[isRun ? 1 : 0]
  return { statement: start === undefined ? [] : tokens.slice(tokens.indexOf(start)), isRun }
}

function notReadOnlyError(): ExportError {
  return new ExportError('USAGE', 'a query only reads, and this statement does something else', {
    fix: 'Ask with SELECT, WITH, PIVOT, DESCRIBE, SUMMARIZE, EXPLAIN or SHOW TABLES; send the answer to a file with --format csv > FILE.',
  })
}
