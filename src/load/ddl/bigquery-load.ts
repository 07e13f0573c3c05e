import type { FormatName } from '../../core/model/model.ts'
import { type BulkContext, type BulkTable, blockCondition, keyCondition } from './bulk-table.ts'
import { createTable } from './create-table.ts'
import { tableIdentifier } from './table-namespace.ts'

/** Options of LOAD DATA by format. Files of other formats cannot be loaded. */
export const BIGQUERY_FORMATS: Partial<Record<FormatName, readonly string[]>> = {
  csv: ["format = 'CSV'", 'skip_leading_rows = 1', 'allow_quoted_newlines = true', "encoding = 'UTF-8'"],
  parquet: ["format = 'PARQUET'"],
}

/**
 * GoogleSQL statements that load files from Cloud Storage: per table, LOAD DATA into a staging table, then one MERGE.
 */
export function bigqueryLoad(tables: readonly BulkTable[], context: BulkContext): string[] {
  const { dialect, namespace } = context
  const schema = `${dialect.createSchema?.(dialect.quote(namespace.schema ?? ''))};`
  return [schema, ...tables.flatMap((table) => loadTable(table, context))]
}

function loadTable(bulk: BulkTable, context: BulkContext): string[] {
  const { table } = bulk
  const { dialect, namespace } = context
  const stage = tableIdentifier(`${table.name}_stage`, dialect, namespace)
  const create = createTable(table, dialect, namespace).map((statement) => `${statement};`)
  const files = bulk.files.filter(({ rows }) => rows > 0)
  const load = [
    ...create,
    ...loadData(bulk, { ...context, stage, files }),
    merge(bulk, { ...context, stage }),
  ]
  return [...load, `DROP TABLE ${stage};`]
}

type StageContext = BulkContext & { readonly stage: string }

/** Loads the files into the staging table. One LOAD DATA cannot mix gzipped and plain files. */
function loadData(
  { table }: BulkTable,
  { dialect, stage, files, filesAt, fileFormat }: StageContext & { files: BulkTable['files'] },
): string[] {
  const columns = table.columns.map(({ name, type }) => `  ${dialect.quote(name)} ${dialect.types[type]}`)
  if (files.length === 0) return [`CREATE OR REPLACE TABLE ${stage} (\n${columns.join(',\n')}\n);`]
  const isGzip = ({ path }: { path: string }) => path.endsWith('.gz')
  const byCompression = [files.filter((file) => !isGzip(file)), files.filter(isGzip)]
  const groups = byCompression.filter((group) => group.length > 0)
  return groups.map((group, at) => {
    const uris = group.map(({ path }) => `    ${dialect.literal(`${filesAt}/${path}`)}`)
    const into = `LOAD DATA ${at === 0 ? 'OVERWRITE' : 'INTO'} ${stage} (\n${columns.join(',\n')}\n)`
    const options = [...fileFormat, `uris = [\n${uris.join(',\n')}\n  ]`]
    return `${into}\nFROM FILES (\n  ${options.join(',\n  ')}\n);`
  })
}

function merge(bulk: BulkTable, context: StageContext): string {
  const { table } = bulk
  const { dialect, namespace, stage } = context
  const names = table.columns.map(({ name }) => dialect.quote(name))
  const set = names.map((name) => `${name} = S.${name}`).join(', ')
  return [
    `MERGE INTO ${tableIdentifier(table.name, dialect, namespace)} AS T`,
    `USING (SELECT ${selectList(table, context)} FROM ${stage}) AS S`,
    `ON ${keyCondition(table, dialect)}`,
    `WHEN MATCHED THEN UPDATE SET ${set}`,
    `WHEN NOT MATCHED BY TARGET THEN INSERT (${names.join(', ')}) VALUES (${names.map((name) => `S.${name}`).join(', ')})`,
    `-- removes`,
    `WHEN NOT MATCHED BY SOURCE AND ${blockCondition(bulk, context, 'T')} THEN DELETE;`,
  ].join('\n')
}

function selectList({ columns }: BulkTable['table'], { dialect, unescapes }: BulkContext): string {
  return columns
    .map(({ name, type }) => {
      const cell = dialect.quote(name)
      if (!unescapes || type !== 'text') return cell
      return `IF(REGEXP_CONTAINS(${cell}, r"^'+[=+\\-@\\t\\r]"), SUBSTR(${cell}, 2), ${cell}) AS ${cell}`
    })
    .join(', ')
}
