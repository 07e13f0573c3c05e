import { TABLES, type Table } from '../../core/table/index.ts'
import { SCHEMA_VERSION } from '../../core/table/schema-changes.ts'
import { selectTables } from '../../core/table/select-tables.ts'
import { jobSchema } from '../../job/job-schema.ts'
import { DIALECT_NAMES } from '../../load/ddl/dialects.ts'
import { NAMING_NAMES } from '../../load/ddl/namings.ts'
import { schemaText } from '../../load/ddl/schema-text.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { usageError } from '../usage-error.ts'

const options = [
  option('sql <engine>', 'Print CREATE TABLE statements for this engine instead of JSON', {
    choices: DIALECT_NAMES,
  }),
  option('table <name>', 'Only this table (repeatable)', { repeatable: true }),
  option(
    'naming <set>',
    "With --sql: views with the names of BigQuery's crypto_ethereum dataset or of cryo",
    { choices: NAMING_NAMES },
  ),
  option('schema <name>', 'With --sql: database schema of the tables'),
  option('prefix <text>', 'With --sql: prefix of the table names'),
]
type SchemaArguments = OptionValues<typeof options> & { name?: string }

export const command = defineCommand({
  name: 'schema',
  summary: 'Print the schema of the tables or of job files',
  description: 'Print the tables and their columns as JSON or SQL, or the JSON Schema of job files',
  arguments: [{ name: 'name', description: 'Table name, or `job` for the JSON Schema of job files' }],
  options,
  examples: [['schema --sql postgres | psql', 'Create the tables in PostgreSQL']],
  run: async (args) => {
    process.stdout.write(
      args.sql === undefined ? `${JSON.stringify(schemaJson(args), null, 2)}\n` : schemaSql(args),
    )
  },
})

function schemaJson({ name: table, table: others, ...sqlOnly }: SchemaArguments): object {
  for (const name of ['naming', 'schema', 'prefix'] as const) {
    if (sqlOnly[name] === undefined) continue
    throw usageError(`--${name} needs --sql`, `Add --sql ${DIALECT_NAMES.join('|')}.`)
  }
  if (table === 'job') return jobSchema()
  const tables = tablesOf(table, others)
  if (table === undefined && others === undefined) return { schemaVersion: SCHEMA_VERSION, tables: TABLES }
  return tables.length === 1 ? (tables[0] as Table) : { schemaVersion: SCHEMA_VERSION, tables }
}

function schemaSql({ name, table, sql = 'duckdb', naming, schema, prefix }: SchemaArguments): string {
  return schemaText({ sql, tables: tablesOf(name, table), naming, namespace: { schema, prefix } })
}

function tablesOf(name: string | undefined, tableOptions: readonly string[] = []): readonly Table[] {
  const names = [...(name === undefined ? [] : [name]), ...tableOptions].flatMap((name) => name.split(','))
  return names.length === 0 ? TABLES : selectTables(names, { alternatives: ['job'] })
}
