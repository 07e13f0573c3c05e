import { assertOwnDatabase } from './assert-own-database.ts'
import { openReader, type Reader } from './reader.ts'
import type { LoadTarget, Statements } from './target.ts'
import type { TargetUrl } from './target-url.ts'
import { openClickhouse } from './targets/clickhouse.ts'
import { openDuckdb } from './targets/duckdb.ts'
import { openPostgres } from './targets/postgres.ts'
import { openSqlite } from './targets/sqlite.ts'

/** Targets that rows can be loaded into directly. For the others, a script is printed. */
export type LoadableUrl = Exclude<TargetUrl, { kind: 'bigquery' | 'snowflake' }>

export type OpenTargetOptions = {
  readonly sql: Statements
  readonly unescapeFormulas: boolean
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
  /** Folder for temporary data. */
  readonly scratchFolder: string
}

/** Connects to a target. The caller must call its `close`. Throws LOAD_FAILED or OUTPUT_LOCKED. */
export async function openLoadTarget(url: LoadableUrl, options: OpenTargetOptions): Promise<LoadTarget> {
  const { sql } = options
  if (url.kind === 'duckdb' || url.kind === 'sqlite') await assertOwnDatabase(url.kind, url.file)
  if (url.kind === 'duckdb') return openDuckdb({ ...options, file: url.file })
  const reader = await openReader(options)
  try {
    return withReaderClose(await open(url, { sql, reader }), reader)
  } catch (thrown) {
    await reader.close()
    throw thrown
  }
}

type TargetContext = Pick<OpenTargetOptions, 'sql'> & { readonly reader: Reader }

function open(
  url: Exclude<LoadableUrl, { kind: 'duckdb' }>,
  { sql, reader }: TargetContext,
): Promise<LoadTarget> {
  if (url.kind === 'sqlite') return openSqlite({ file: url.file, sql, reader })
  if (url.kind === 'postgres') return openPostgres({ ...url, sql, reader })
  return openClickhouse({ ...url, sql, reader })
}

function withReaderClose(target: LoadTarget, reader: Reader): LoadTarget {
  return {
    ...target,
    close: async () => {
      await target.close()
      await reader.close()
    },
  }
}
