import { join } from 'node:path'
import type { ManifestFile } from '../../core/model/manifest.ts'
import type { FormatName } from '../../core/model/model.ts'
import { type BulkContext, type BulkTable, blockCondition, keyCondition } from './bulk-table.ts'
import { createTable } from './create-table.ts'
import { tableIdentifier } from './table-namespace.ts'

/** Backslashes are plain text and empty fields are null; neither is Snowflake's default. */
const CSV_OPTIONS = [
  'TYPE = CSV COMPRESSION = AUTO SKIP_HEADER = 1',
  `FIELD_OPTIONALLY_ENCLOSED_BY = '"' ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE`,
  "EMPTY_FIELD_AS_NULL = TRUE NULL_IF = () TRIM_SPACE = FALSE ENCODING = 'UTF8'",
].join(' ')

/** Clauses of COPY INTO by format. Files of other formats cannot be loaded. */
export const SNOWFLAKE_FORMATS: Partial<Record<FormatName, readonly string[]>> = {
  csv: [`FILE_FORMAT = (${CSV_OPTIONS})`],
  parquet: [
    'FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)',
    'MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE',
  ],
}

/** Maximum number of files that one COPY INTO may list. */
const MAX_FILES_PER_COPY = 1_000

/**
 * Snowflake statements that load files from a stage: per table, COPY INTO a temporary table, then a DELETE and a MERGE
 * in one transaction. The session's time zone is set to UTC because Parquet timestamps are converted to local time.
 */
export function snowflakeLoad(
  tables: readonly BulkTable[],
  context: BulkContext & { readonly names: readonly string[] },
): string[] {
  const { dialect, names, namespace } = context
  const database = names.length > 1 ? [`USE DATABASE ${dialect.quote((names[0] ?? '').toLowerCase())};`] : []
  const session = [
    ...database,
    `${dialect.createSchema?.(dialect.quote(namespace.schema ?? ''))};`,
    "ALTER SESSION SET TIMEZONE = 'UTC';",
  ]
  return [session.join('\n'), ...tables.flatMap((table) => loadTable(table, context))]
}

function loadTable(bulk: BulkTable, context: BulkContext): string[] {
  const { table } = bulk
  const { dialect, namespace } = context
  const name = tableIdentifier(table.name, dialect, namespace)
  const stage = tableIdentifier(`${table.name}_stage`, dialect, namespace)
  const files = bulk.files.filter(({ rows }) => rows > 0)
  return [
    ...createTable(table, dialect, namespace).map((statement) => `${statement};`),
    ...putFiles(files, context),
    `CREATE OR REPLACE TEMPORARY TABLE ${stage} LIKE ${name};`,
    ...copyFiles(files, { ...context, stage }),
    replaceRows(bulk, { ...context, name, stage }),
  ]
}

/** Uploads local files to the stage, without compression so that their names do not change. */
function putFiles(files: readonly ManifestFile[], { folder, filesAt, dialect }: BulkContext): string[] {
  if (folder === undefined || files.length === 0) return []
  const puts = files.map(({ path }) => {
    const from = dialect.literal(`file://${join(folder, path).replaceAll('\\', '/')}`)
    const to = dialect.literal(`${filesAt}/${path.slice(0, path.lastIndexOf('/'))}`)
    return `PUT ${from} ${to} AUTO_COMPRESS = FALSE OVERWRITE = TRUE;`
  })
  return [puts.join('\n')]
}

type StageContext = BulkContext & { readonly stage: string }

function copyFiles(
  files: readonly ManifestFile[],
  { stage, filesAt, dialect, fileFormat }: StageContext,
): string[] {
  const groups = Array.from({ length: Math.ceil(files.length / MAX_FILES_PER_COPY) }, (_, at) =>
    files.slice(at * MAX_FILES_PER_COPY, (at + 1) * MAX_FILES_PER_COPY),
  )
  return groups.map((group) => {
    const paths = group.map(({ path }) => `  ${dialect.literal(path)}`).join(',\n')
    const from = dialect.literal(`${filesAt}/`)
    return `COPY INTO ${stage}\nFROM ${from}\nFILES = (\n${paths}\n)\n${fileFormat.join('\n')}\nON_ERROR = ABORT_STATEMENT;`
  })
}

function replaceRows(bulk: BulkTable, context: StageContext & { name: string }): string {
  const { table } = bulk
  const { dialect, name, stage } = context
  const names = table.columns.map((column) => dialect.quote(column.name))
  const same = keyCondition(table, dialect)
  const others = table.columns
    .map((column) => column.name)
    .filter((column) => !table.key.includes(column))
    .map(dialect.quote)
  const set = others.map((column) => `T.${column} = S.${column}`).join(', ')
  return [
    'BEGIN;',
    `-- removes\nDELETE FROM ${name} AS T\nWHERE ${blockCondition(bulk, context, 'T')}\n  AND NOT EXISTS (SELECT 1 FROM ${stage} AS S WHERE ${same});`,
    `MERGE INTO ${name} AS T\nUSING (SELECT ${selectList(table, context)} FROM ${stage}) AS S\nON ${same}`,
    `WHEN MATCHED THEN UPDATE SET ${set}`,
    `WHEN NOT MATCHED THEN INSERT (${names.join(', ')}) VALUES (${names.map((one) => `S.${one}`).join(', ')});`,
    'COMMIT;',
    `DROP TABLE ${stage};`,
  ].join('\n')
}

function selectList({ columns }: BulkTable['table'], { dialect, unescapes }: BulkContext): string {
  return columns
    .map(({ name, type }) => {
      const cell = dialect.quote(name)
      if (!unescapes || type !== 'text') return cell
      const isEscaped = `STARTSWITH(${cell}, '''') AND LEFT(LTRIM(${cell}, ''''), 1) IN ('=', '+', '-', '@', CHAR(9), CHAR(13))`
      return `IFF(${isEscaped}, SUBSTR(${cell}, 2), ${cell}) AS ${cell}`
    })
    .join(', ')
}
