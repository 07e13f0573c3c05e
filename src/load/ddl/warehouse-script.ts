import { join } from 'node:path'
import { unionRanges } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest, ManifestFile } from '../../core/model/manifest.ts'
import type { BlockRange, FormatName } from '../../core/model/model.ts'
import { optionError } from '../../core/model/option-error.ts'
import { GENERATOR } from '../../core/model/version.ts'
import { decimalColumnsOf, TABLES, type Table } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import { columnList, createTable, sameKey, type TableNamespace, tableIdentifier } from './tables.ts'

export type WarehouseScriptOptions = {
  readonly engine: keyof typeof WAREHOUSES
  readonly manifest: Manifest
  /** Project and dataset, or database and schema. The last name is the schema. */
  readonly names: readonly string[]
  readonly prefix?: string | undefined
  /** Location from which the warehouse reads the files: `gs://bucket/path` or `@stage/path`. */
  readonly filesAt?: string | undefined
  /** The local output folder, for statements that upload the files to the stage. */
  readonly folder?: string | undefined
  /** @default all tables */
  readonly tables?: readonly Table[] | undefined
  readonly unescapeFormulas: boolean
}

/** How one table is loaded: the files of the export, with the blocks that they cover. */
type TableLoad = {
  readonly table: Table
  readonly files: readonly ManifestFile[]
  readonly name: string
  /** The staging table. */
  readonly stage: string
  /** Condition that the row `T` is in blocks that the files cover. */
  readonly isCovered: string
  /** The cells of the staging table, as `S`. */
  readonly staged: string
}

type ScriptContext = {
  readonly dialect: Dialect
  readonly namespace: TableNamespace
  readonly names: readonly string[]
  readonly filesAt: string
  readonly folder: string | undefined
  /** What the warehouse must know to read files of the export's format. */
  readonly fileFormat: readonly string[]
  /** `decimal` if the files also have columns of decimals. */
  readonly numbers: string | undefined
}

/** A warehouse that loads files itself from a location that it can access. */
type Warehouse = {
  /** Matches locations of files, and an example of one. */
  readonly locations: RegExp
  readonly example: string
  /** How files of each format are read. Files of other formats cannot be loaded. */
  readonly formats: Partial<Record<FormatName, readonly string[]>>
  /** Statements before those of the tables. */
  begin(context: ScriptContext): string
  /** Loads the files into the staging table, and merges it into the table. */
  load(load: TableLoad, context: ScriptContext): string[]
  /** SQL for text without the `'` before a formula. */
  unescaped(cell: string): string
}

/** Backslashes are plain text and empty fields are null; neither is Snowflake's default. */
const SNOWFLAKE_CSV = [
  'TYPE = CSV COMPRESSION = AUTO SKIP_HEADER = 1',
  `FIELD_OPTIONALLY_ENCLOSED_BY = '"' ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE`,
  "EMPTY_FIELD_AS_NULL = TRUE NULL_IF = () TRIM_SPACE = FALSE ENCODING = 'UTF8'",
].join(' ')

const WAREHOUSES = {
  bigquery: {
    locations: /^gs:\/\/[^/\s']+(?:\/[^\s'*]*)?$/,
    example: 'gs://my-bucket/my-output',
    formats: {
      csv: ["format = 'CSV'", 'skip_leading_rows = 1', 'allow_quoted_newlines = true', "encoding = 'UTF-8'"],
      parquet: ["format = 'PARQUET'"],
    },
    begin: createSchemaSql,
    load: (load, context) => [
      ...loadData(load, context),
      mergeData(load, context),
      `DROP TABLE ${load.stage};`,
    ],
    unescaped: (cell) => `IF(REGEXP_CONTAINS(${cell}, r"^'+[=+\\-@\\t\\r]"), SUBSTR(${cell}, 2), ${cell})`,
  },
  snowflake: {
    locations: /^@[^\s']+$/,
    example: '@my_stage/my-output',
    formats: {
      csv: [`FILE_FORMAT = (${SNOWFLAKE_CSV})`],
      parquet: [
        'FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)',
        'MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE',
      ],
    },
    // The session's time zone is set to UTC because Parquet timestamps are converted to local time.
    begin: (context) => {
      const { names, dialect } = context
      const database = `USE DATABASE ${dialect.quote((names[0] ?? '').toLowerCase())};`
      const statements = [createSchemaSql(context), "ALTER SESSION SET TIMEZONE = 'UTC';"]
      return [...(names.length > 1 ? [database] : []), ...statements].join('\n')
    },
    load: (load, context) => [
      ...putFiles(load, context),
      `CREATE OR REPLACE TEMPORARY TABLE ${load.stage} LIKE ${load.name};`,
      ...copyFiles(load, context),
      replaceRows(load, context),
    ],
    unescaped: (cell) =>
      `IFF(STARTSWITH(${cell}, '''') AND LEFT(LTRIM(${cell}, ''''), 1) IN ('=', '+', '-', '@', CHAR(9), CHAR(13)), SUBSTR(${cell}, 2), ${cell})`,
  },
} as const satisfies Record<string, Warehouse>

/**
 * Returns a script that loads a manifest's files into a warehouse: per table, CREATE TABLE, a staging table and a
 * MERGE. Rows of the manifest's blocks that the files do not contain are deleted.
 *
 * @throws ExportError USAGE if the location of the files is missing or invalid for the warehouse, or if the warehouse
 *   cannot load their format
 */
export function warehouseScript(options: WarehouseScriptOptions): string {
  const { engine, manifest, names, prefix, folder, tables = TABLES, unescapeFormulas } = options
  const { job } = manifest
  const warehouse: Warehouse = WAREHOUSES[engine]
  const dialect = DIALECTS[engine]
  // BigQuery takes project and dataset as one quoted name.
  const schema = engine === 'bigquery' && names.length > 0 ? names.join('.') : names.at(-1)
  const namespace = { schema: schema ?? dialect.defaultSchema, prefix }
  const context = {
    dialect,
    namespace,
    names,
    folder,
    filesAt: locate(options),
    fileFormat: fileFormatOf(options),
    numbers: job.numbers,
  }
  const unescapes = unescapeFormulas && FORMATS[job.format].escapesFormulas
  const loads = tables.flatMap((table) => {
    const listed = manifest.tables[table.name]
    if (listed === undefined) return []
    const stage = tableIdentifier(`${table.name}_stage`, dialect, namespace)
    const blocks = unionRanges(
      listed.files.map(({ fromBlock, toBlock }) => ({ from: fromBlock, to: toBlock })),
    )
    const load: TableLoad = {
      table,
      stage,
      files: listed.files.filter(({ rows }) => rows > 0),
      name: tableIdentifier(table.name, dialect, namespace),
      isCovered: coveredRows(blocks, dialect.literal(job.chain), stage),
      staged: `SELECT ${stagedCells(table, dialect, unescapes ? warehouse.unescaped : undefined)} FROM ${stage}`,
    }
    const create = createTable(table, dialect, namespace).map((statement) => `${statement};`)
    return [...create, ...warehouse.load(load, context)]
  })
  const header = [
    `-- ${GENERATOR}: loads the output ${printable(job.name)} of chain ${printable(job.chain)} into ${dialect.title}.`,
    '-- The statements marked "removes" delete rows of its blocks that the output no longer contains. Leave them out',
    '-- if another output with the same blocks is loaded into the same tables.',
  ]
  return `${header.join('\n')}\n\n${[warehouse.begin(context), ...loads].join('\n\n')}\n`
}

function locate({ engine, filesAt, manifest, folder }: WarehouseScriptOptions): string {
  const location =
    filesAt ?? (engine === 'snowflake' && folder !== undefined ? `@~/walletlake/${manifest.job.name}` : '')
  const { locations, example } = WAREHOUSES[engine]
  if (locations.test(location)) return location.replace(/\/$/, '')
  throw optionError('files-at', {
    found: location,
    expected: `a location such as ${example}`,
    fix: `Copy the output folder to a location that ${DIALECTS[engine].title} can read, and pass it with --files-at.`,
  })
}

function fileFormatOf({ engine, manifest: { job } }: WarehouseScriptOptions): readonly string[] {
  const { formats }: Warehouse = WAREHOUSES[engine]
  const fileFormat = formats[job.format]
  if (fileFormat !== undefined) return fileFormat
  const { title } = DIALECTS[engine]
  throw new ExportError('USAGE', `walletlake has no script that loads ${job.format} files into ${title}`, {
    fix: `Export as ${Object.keys(formats).join(' or ')}.`,
  })
}

/** Replaces everything but printable ASCII, so that untrusted text cannot end the SQL comment that contains it. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}

function createSchemaSql({ dialect, namespace }: ScriptContext): string {
  return `${dialect.createSchema?.(dialect.quote(namespace.schema ?? ''))};`
}

/**
 * SQL condition that the row `T` belongs to this chain and to these blocks. Rows have the chain id that the
 * service returns, which may differ from the job's, so the ids in the staging table count too.
 */
function coveredRows(blocks: readonly BlockRange[], chain: string, stage: string): string {
  const ranges = blocks.map(({ from, to }) => `T.block_number >= ${from} AND T.block_number < ${to}`)
  if (ranges.length === 0) return 'FALSE'
  const any = ranges.length === 1 ? ranges[0] : `(${ranges.map((range) => `(${range})`).join(' OR ')})`
  return `(T.chain_id = ${chain} OR T.chain_id IN (SELECT chain_id FROM ${stage})) AND ${any}`
}

function stagedCells(
  { columns }: Table,
  { quote }: Dialect,
  unescaped: Warehouse['unescaped'] | undefined,
): string {
  const cells = columns.map(({ name, type }) =>
    unescaped === undefined || type !== 'text' ? quote(name) : `${unescaped(quote(name))} AS ${quote(name)}`,
  )
  return cells.join(', ')
}

/** The end of a MERGE: inserts the rows of `S` that `T` lacks. */
const insertMissing = ({ table }: TableLoad, dialect: Dialect): string =>
  `THEN INSERT (${columnList(table, dialect)}) VALUES (${table.columns.map(({ name }) => `S.${dialect.quote(name)}`).join(', ')})`

/** Loads files into BigQuery's staging table. One LOAD DATA cannot mix gzipped and plain files. */
function loadData(
  { table, stage, files }: TableLoad,
  { dialect, filesAt, fileFormat, numbers }: ScriptContext,
): string[] {
  // The staging table has all columns of the files; the table has those without decimals.
  const decimals = decimalColumnsOf(table, numbers)
  const columns = [
    ...table.columns.map(({ name, type }) => `  ${dialect.quote(name)} ${dialect.types[type]}`),
    ...decimals.map(({ name }) => `  ${dialect.quote(name)} BIGNUMERIC`),
  ].join(',\n')
  if (files.length === 0) return [`CREATE OR REPLACE TABLE ${stage} (\n${columns}\n);`]
  const isGzip = ({ path }: { path: string }) => path.endsWith('.gz')
  const byCompression = [files.filter((file) => !isGzip(file)), files.filter(isGzip)]
  const groups = byCompression.filter((group) => group.length > 0)
  return groups.map((group, at) => {
    const uris = group.map(({ path }) => `    ${dialect.literal(`${filesAt}/${path}`)}`)
    const into = `LOAD DATA ${at === 0 ? 'OVERWRITE' : 'INTO'} ${stage} (\n${columns}\n)`
    const types = decimals.length === 0 ? [] : ["decimal_target_types = ['BIGNUMERIC']"]
    const options = [...fileFormat, ...types, `uris = [\n${uris.join(',\n')}\n  ]`]
    return `${into}\nFROM FILES (\n  ${options.join(',\n  ')}\n);`
  })
}

function mergeData(load: TableLoad, { dialect }: ScriptContext): string {
  const names = load.table.columns.map(({ name }) => dialect.quote(name))
  return [
    `MERGE INTO ${load.name} AS T`,
    `USING (${load.staged}) AS S`,
    `ON ${sameKey(load.table, dialect, ['T', 'S'])}`,
    `WHEN MATCHED THEN UPDATE SET ${names.map((name) => `${name} = S.${name}`).join(', ')}`,
    `WHEN NOT MATCHED BY TARGET ${insertMissing(load, dialect)}`,
    `-- removes`,
    `WHEN NOT MATCHED BY SOURCE AND ${load.isCovered} THEN DELETE;`,
  ].join('\n')
}

/** Uploads local files to Snowflake's stage, without compression so that their names do not change. */
function putFiles({ files }: TableLoad, { folder, filesAt, dialect }: ScriptContext): string[] {
  if (folder === undefined || files.length === 0) return []
  const puts = files.map(({ path }) => {
    const from = dialect.literal(`file://${join(folder, path).replaceAll('\\', '/')}`)
    const to = dialect.literal(`${filesAt}/${path.slice(0, path.lastIndexOf('/'))}`)
    return `PUT ${from} ${to} AUTO_COMPRESS = FALSE OVERWRITE = TRUE;`
  })
  return [puts.join('\n')]
}

/** Maximum number of files that one COPY INTO may list. */
const MAX_FILES_PER_COPY = 1_000

function copyFiles({ stage, files }: TableLoad, { filesAt, dialect, fileFormat }: ScriptContext): string[] {
  const groups = Array.from({ length: Math.ceil(files.length / MAX_FILES_PER_COPY) }, (_, at) =>
    files.slice(at * MAX_FILES_PER_COPY, (at + 1) * MAX_FILES_PER_COPY),
  )
  return groups.map((group) => {
    const paths = group.map(({ path }) => `  ${dialect.literal(path)}`).join(',\n')
    const from = dialect.literal(`${filesAt}/`)
    return `COPY INTO ${stage}\nFROM ${from}\nFILES = (\n${paths}\n)\n${fileFormat.join('\n')}\nON_ERROR = ABORT_STATEMENT;`
  })
}

/** A DELETE and a MERGE in one transaction. */
function replaceRows(load: TableLoad, { dialect }: ScriptContext): string {
  const { table, name, stage } = load
  const isSame = sameKey(table, dialect, ['T', 'S'])
  const others = table.columns.filter((column) => !table.key.includes(column.name))
  const set = others.map((column) => `T.${dialect.quote(column.name)} = S.${dialect.quote(column.name)}`)
  return [
    'BEGIN;',
    `-- removes\nDELETE FROM ${name} AS T\nWHERE ${load.isCovered}\n  AND NOT EXISTS (SELECT 1 FROM ${stage} AS S WHERE ${isSame});`,
    `MERGE INTO ${name} AS T\nUSING (${load.staged}) AS S\nON ${isSame}`,
    `WHEN MATCHED THEN UPDATE SET ${set.join(', ')}`,
    `WHEN NOT MATCHED ${insertMissing(load, dialect)};`,
    'COMMIT;',
    `DROP TABLE ${stage};`,
  ].join('\n')
}
