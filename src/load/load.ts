import type { Manifest } from '../core/model/manifest.ts'
import { refusedWalletsWarning, rejectLines } from '../terminal/format.ts'
import { bulkLoadText } from './ddl/bulk-load.ts'
import { createTable } from './ddl/create-table.ts'
import { DIALECTS } from './ddl/dialects.ts'
import { checkNamespace, type TableNamespace, tableIdentifier } from './ddl/table-namespace.ts'
import { type LoadOptions, type LoadResult, loadOutput } from './load-output.ts'
import { openLoadSource } from './open-source.ts'
import { type LoadableUrl, openLoadTarget } from './open-target.ts'
import type { Statements } from './target.ts'
import type { TargetUrl } from './target-url.ts'

export type LoadIntoOptions = Omit<LoadOptions, 'signal' | 'onNotice' | 'onFile'> &
  Partial<Pick<LoadOptions, 'signal' | 'onNotice' | 'onFile'>> & {
    /** Schema and prefix of the tables. @default the engine's current schema, no prefix */
    readonly namespace?: TableNamespace
    /** Take away the `'` that CSV exports put before text which a spreadsheet would run. @default as the export was made */
    readonly unescapeFormulas?: boolean | undefined
    /** Memory that DuckDB may take before it moves its work to the disk. @default '256MB' */
    readonly memory?: string | undefined
    /** Wait before a failed download is tried again, in milliseconds; it doubles from there. @default 500 */
    readonly retryDelayMs?: number | undefined
  }

/**
 * Loads an output (its folder, or the path or address of its manifest) into an engine. The same output twice gives the
 * same rows. Throws USAGE, LOAD_FAILED, VERIFY_FAILED, OUTPUT_LOCKED, or what `signal` was aborted with.
 */
export async function loadInto(
  from: string,
  to: LoadableUrl,
  options: LoadIntoOptions = {},
): Promise<LoadResult> {
  const { namespace = {}, memory = '256MB', retryDelayMs } = options
  const { signal = new AbortController().signal } = options
  const sql = statementsFor(to, namespace)
  const source = await openLoadSource(from, { signal, retryDelayMs })
  try {
    const { scratchFolder, manifest } = source
    const { unescapeFormulas = isEscaped(manifest), onNotice = noop } = options
    for (const line of [...rejectLines(manifest), ...refusedWalletsWarning(manifest)]) onNotice(line)
    const target = await openLoadTarget(to, { sql, unescapeFormulas, memory, scratchFolder })
    try {
      return await loadOutput(source, target, {
        ...{ onNotice: noop, onFile: noop },
        ...{ ...options, memory, signal },
      })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

export type PrintLoadOptions = Pick<LoadIntoOptions, 'tables' | 'unescapeFormulas'> & {
  readonly prefix?: string | undefined
  /** Where the warehouse finds the files: `gs://bucket/path` or `@stage/path`. */
  readonly filesAt?: string | undefined
}

/** The script that loads an output into a warehouse which reads files by itself; nothing is sent anywhere. */
export async function printLoad(
  from: string,
  to: Extract<TargetUrl, { kind: 'bigquery' | 'snowflake' }>,
  { tables, prefix, filesAt, ...options }: PrintLoadOptions = {},
): Promise<string> {
  checkNamespace({ prefix }, DIALECTS[to.kind])
  const { manifest, location, close } = await openLoadSource(from, { signal: new AbortController().signal })
  await close()
  const { unescapeFormulas = isEscaped(manifest) } = options
  const folder = location.includes('://') ? undefined : location
  return bulkLoadText({
    ...{ engine: to.kind, manifest, names: to.names, folder },
    ...{ tables, unescapeFormulas, prefix, filesAt },
  })
}

function statementsFor({ kind, ...to }: LoadableUrl, namespace: TableNamespace): Statements {
  const dialect = DIALECTS[kind]
  checkNamespace(namespace, dialect)
  const database = 'database' in to && namespace.schema === undefined ? { schema: to.database } : {}
  const tableNamespace = { ...namespace, ...database }
  return {
    createSchema:
      namespace.schema === undefined ? [] : [dialect.createSchema?.(dialect.quote(namespace.schema)) ?? ''],
    create: (table) => createTable(table, dialect, tableNamespace),
    identifier: (table) => tableIdentifier(table, dialect, tableNamespace),
    quote: dialect.quote,
    declare: dialect.declare,
    schema: tableNamespace.schema,
    prefix: namespace.prefix ?? '',
  }
}

/** Exports of before the manifest said so were escaped unless somebody asked otherwise. */
const isEscaped = ({ job }: Manifest) => job.escapeFormulas ?? true

function noop(): void {}
