import type { Manifest } from '../core/model/manifest.ts'
import { missingRowsWarning, rejectLines } from '../terminal/format.ts'
import type { LoadableUrl } from './databases.ts'
import { bulkLoadText } from './ddl/bulk-load.ts'
import { createTable } from './ddl/create-table.ts'
import { DIALECTS } from './ddl/dialects.ts'
import { checkNamespace, type TableNamespace, tableIdentifier } from './ddl/table-namespace.ts'
import { type LoadOptions, type LoadResult, loadOutput } from './load-output.ts'
import { openLoadSource } from './open-source.ts'
import type { Statements } from './target.ts'
import type { WarehouseUrl } from './target-url.ts'

export type LoadIntoOptions = Omit<LoadOptions, 'signal' | 'onNotice' | 'onFile'> &
  Partial<Pick<LoadOptions, 'signal' | 'onNotice' | 'onFile'>> & {
    /** Schema and prefix of the tables. @default the engine's current schema, no prefix */
    readonly namespace?: TableNamespace
    /**
     * Remove the `'` that CSV exports write before text that a spreadsheet would evaluate. @default whether the export
     * escaped
     */
    readonly unescapeFormulas?: boolean | undefined
    /** DuckDB's memory limit; more data is spilled to disk. @default '256MB' */
    readonly memory?: string | undefined
    /** Delay before a failed download is retried, in milliseconds; doubles for each further attempt. @default 500 */
    readonly retryDelayMs?: number | undefined
  }

/**
 * Loads an output into a database. Loading the same output again gives the same rows.
 *
 * @param from the output folder, or the path or URL of its manifest
 * @param to the target database
 * @returns what was loaded, skipped and deleted
 * @throws ExportError USAGE, LOAD_FAILED, VERIFY_FAILED or OUTPUT_LOCKED, or the reason that `signal` was aborted with
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
    for (const line of [...rejectLines(manifest), ...missingRowsWarning(manifest)]) onNotice(line)
    const target = await to.open({ sql, unescapeFormulas, memory, scratchFolder })
    try {
      return await loadOutput(source, target, {
        onNotice: noop,
        onFile: noop,
        ...options,
        memory,
        signal,
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
  /** Location from which the warehouse reads the files: `gs://bucket/path` or `@stage/path`. */
  readonly filesAt?: string | undefined
}

/** Returns a script that loads an output into a warehouse that reads the files itself. Connects to nothing. */
export async function printLoad(
  from: string,
  to: WarehouseUrl,
  { tables, prefix, filesAt, ...options }: PrintLoadOptions = {},
): Promise<string> {
  checkNamespace({ prefix }, DIALECTS[to.kind])
  const { manifest, location, close } = await openLoadSource(from, { signal: new AbortController().signal })
  await close()
  const { unescapeFormulas = isEscaped(manifest) } = options
  const folder = location.includes('://') ? undefined : location
  return bulkLoadText({
    engine: to.kind,
    manifest,
    names: to.names,
    folder,
    tables,
    unescapeFormulas,
    prefix,
    filesAt,
  })
}

function statementsFor({ dialect, ...to }: LoadableUrl, namespace: TableNamespace): Statements {
  checkNamespace(namespace, dialect)
  const tableNamespace = {
    ...namespace,
    schema: namespace.schema ?? ('database' in to ? to.database : undefined),
  }
  return {
    createSchema:
      namespace.schema === undefined ? [] : [dialect.createSchema?.(dialect.quote(namespace.schema)) ?? ''],
    create: (table) => createTable(table, dialect, tableNamespace),
    identifier: (table) => tableIdentifier(table, dialect, tableNamespace),
    quote: dialect.quote,
    declare: dialect.declare,
    dropNotNull: dialect.dropNotNull,
    schema: tableNamespace.schema,
    prefix: namespace.prefix ?? '',
  }
}

/** Manifests of older versions do not record `escapeFormulas`; its default was true. */
const isEscaped = ({ job }: Manifest) => job.escapeFormulas ?? true

function noop(): void {}
