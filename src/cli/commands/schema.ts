import { ExportError } from '../../core/model/errors.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { SCHEMA_VERSION } from '../../core/table/schema-changes.ts'
import { selectTables } from '../../core/table/select-tables.ts'
import { jobSchema } from '../../job/job-schema.ts'
import { DIALECT_NAMES } from '../../load/ddl/dialect.ts'
import { NAMING_NAMES } from '../../load/ddl/namings.ts'
import { schemaText } from '../../load/ddl/schema-text.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'

const options = defineOptions([
  {
    name: 'sql',
    value: '<engine>',
    choices: DIALECT_NAMES,
    description: 'Print CREATE TABLE statements for this engine instead of JSON',
  },
  { name: 'table', value: '<name>', repeatable: true, description: 'Only this table (repeatable)' },
  {
    name: 'naming',
    value: '<set>',
    choices: NAMING_NAMES,
    description: "With --sql: views with the names of BigQuery's crypto_ethereum dataset or of cryo",
  },
  { name: 'schema', value: '<name>', description: 'With --sql: database schema of the tables' },
  { name: 'prefix', value: '<text>', description: 'With --sql: prefix of the table names' },
])
type SchemaArguments = OptionValues<typeof options> & { name?: string }

export const command = defineCommand({
  name: 'schema',
  summary: 'Print the schema of the tables or of job files',
  description: 'Print the tables and their columns as JSON or SQL, or the JSON Schema of job files',
  arguments: [{ name: 'name', description: 'Table name, or `job` for the JSON Schema of job files' }],
  options,
  examples: [['schema --sql postgres | psql', 'Create the tables in PostgreSQL']],
  run: printSchema,
})

async function printSchema(args: SchemaArguments): Promise<void> {
  process.stdout.write(
    args.sql === undefined ? `${JSON.stringify(schemaJson(args), null, 2)}\n` : schemaSql(args),
  )
}

function schemaJson({ name, table, ...sqlOnly }: SchemaArguments): object {
  for (const option of ['naming', 'schema', 'prefix'] as const) {
    if (sqlOnly[option] === undefined) continue
    throw new ExportError('USAGE', `--${option} needs --sql`, {
      fix: `Add --sql ${DIALECT_NAMES.join('|')}.`,
    })
  }
  if (name === 'job') return jobSchema()
  const tables = tablesOf(name, table)
  if (name === undefined && table === undefined) return { schemaVersion: SCHEMA_VERSION, tables: TABLES }
  return tables.length === 1 ? (tables[0] as Table) : { schemaVersion: SCHEMA_VERSION, tables }
}

function schemaSql({ name, table, sql = 'duckdb', naming, schema, prefix }: SchemaArguments): string {
  return schemaText({ sql, tables: tablesOf(name, table), naming, namespace: { schema, prefix } })
}

function tablesOf(name: string | undefined, tableOptions: readonly string[] = []): readonly Table[] {
  const names = [...(name === undefined ? [] : [name]), ...tableOptions].flatMap((name) => name.split(','))
  return names.length === 0 ? TABLES : selectTables(names, { alternatives: ['job'] })
}
