import { type Command, Option } from 'commander'
import { ExportError } from '../core/errors.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { tablesNamed } from '../core/table/tables-named.ts'
import { jobSchema } from '../job/job-schema.ts'
import { DIALECT_NAMES, type DialectName } from '../sql/dialect.ts'
import { NAMING_NAMES, type NamingName } from '../sql/namings.ts'
import { schemaText } from '../sql/schema-text.ts'
import { collect } from './collect.ts'
import { addExamples } from './examples.ts'

type SchemaOptions = {
  sql?: DialectName
  table?: string[]
  naming?: NamingName
  schema?: string
  prefix?: string
}
type SchemaArguments = SchemaOptions & { what: string | undefined }

export function schemaCommand(program: Command): void {
  const command = program
    .command('schema')
    .summary('print the tables or the format of jobs')
    .description('print the tables and their columns, as JSON or SQL, or `job`: the job file format')
    .argument('[what]', 'a table, or `job` for the JSON Schema of job files')
    .addOption(new Option('--sql <engine>', 'create-table statements instead of JSON').choices(DIALECT_NAMES))
    .option('--table <name>', 'only this table (repeatable)', collect)
    .addOption(
      new Option(
        '--naming <set>',
        "with --sql: views named as in BigQuery's crypto_ethereum, or in cryo",
      ).choices(NAMING_NAMES),
    )
    .option('--schema <name>', 'with --sql: schema of the tables')
    .option('--prefix <text>', "with --sql: before each table's name")
  addExamples(command, ['schema --sql postgres | psql', 'create the tables by hand'])
  command.action((what: string | undefined, options: SchemaOptions) => {
    const args = { what, ...options }
    process.stdout.write(args.sql === undefined ? `${JSON.stringify(asJson(args), null, 2)}\n` : asSql(args))
  })
}

function asJson({ what, table, ...sqlOnly }: SchemaArguments): object {
  for (const option of ['naming', 'schema', 'prefix'] as const) {
    if (sqlOnly[option] === undefined) continue
    throw new ExportError('USAGE', `--${option} needs --sql`, {
      fix: `Add --sql ${DIALECT_NAMES.join('|')}.`,
    })
  }
  if (what === 'job') return jobSchema()
  const tables = tablesOf(what, table)
  if (what === undefined && table === undefined) return { schemaVersion: 1, tables: TABLES }
  return tables.length === 1 ? (tables[0] as Table) : { schemaVersion: 1, tables }
}

function asSql({ what, table, sql = 'duckdb', naming, schema, prefix }: SchemaArguments): string {
  return schemaText({ sql, tables: tablesOf(what, table), naming, place: { schema, prefix } })
}

function tablesOf(what: string | undefined, more: readonly string[] = []): readonly Table[] {
  const names = [...(what === undefined ? [] : [what]), ...more].flatMap((name) => name.split(','))
  return names.length === 0 ? TABLES : tablesNamed(names, { others: ['job'] })
}
