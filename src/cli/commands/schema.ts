import { type Command, Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { SCHEMA_VERSION } from '../../core/table/schema-changes.ts'
import { selectTables } from '../../core/table/select-tables.ts'
import { jobSchema } from '../../job/job-schema.ts'
import { DIALECT_NAMES, type DialectName } from '../../load/ddl/dialect.ts'
import { NAMING_NAMES, type NamingName } from '../../load/ddl/namings.ts'
import { schemaText } from '../../load/ddl/schema-text.ts'
import { addExamples } from '../examples.ts'
import { collect } from '../options/collect.ts'

type SchemaOptions = {
  sql?: DialectName
  table?: string[]
  naming?: NamingName
  schema?: string
  prefix?: string
}
type SchemaArguments = SchemaOptions & { name: string | undefined }

export function schemaCommand(program: Command): void {
  const command = program
    .command('schema')
    .summary('Print the schema of the tables or of job files')
    .description('Print the tables and their columns as JSON or SQL, or the JSON Schema of job files')
    .argument('[name]', 'Table name, or `job` for the JSON Schema of job files')
    .addOption(
      new Option('--sql <engine>', 'Print CREATE TABLE statements for this engine instead of JSON').choices(
        DIALECT_NAMES,
      ),
    )
    .option('--table <name>', 'Only this table (repeatable)', collect)
    .addOption(
      new Option(
        '--naming <set>',
        "With --sql: views with the names of BigQuery's crypto_ethereum dataset or of cryo",
      ).choices(NAMING_NAMES),
    )
    .option('--schema <name>', 'With --sql: database schema of the tables')
    .option('--prefix <text>', 'With --sql: prefix of the table names')
  addExamples(command, ['schema --sql postgres | psql', 'Create the tables in PostgreSQL'])
  command.action((name: string | undefined, options: SchemaOptions) => {
    const args = { name, ...options }
    process.stdout.write(
      args.sql === undefined ? `${JSON.stringify(schemaJson(args), null, 2)}\n` : schemaSql(args),
    )
  })
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
