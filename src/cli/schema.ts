import type { CommandModule } from 'yargs'
import { ExportError } from '../core/errors.ts'
import { TABLE_NAMES, TABLES, type Table } from '../core/table/index.ts'
import { jobSchema } from '../job/job-schema.ts'
import { DIALECT_NAMES, type DialectName } from '../sql/dialect.ts'
import { NAMING_NAMES, type NamingName } from '../sql/namings.ts'
import { schemaText } from '../sql/schema-text.ts'

type SchemaArguments = {
  what: string | undefined
  sql: DialectName | undefined
  table: string[] | undefined
  naming: NamingName | undefined
  schema: string | undefined
  prefix: string | undefined
}

export function schemaCommand(): CommandModule<object, SchemaArguments> {
  return {
    command: 'schema [what]',
    describe: 'print the tables and their columns, as JSON or SQL, or `job`: the job file format',
    builder: (argv) =>
      argv
        .positional('what', {
          describe: 'a table, or `job` for the JSON Schema of job files',
          type: 'string',
        })
        .option('sql', {
          choices: DIALECT_NAMES,
          describe: 'create-table statements of this engine instead of JSON',
        })
        .option('table', {
          type: 'string',
          array: true,
          describe: 'only these tables',
          requiresArg: true,
        })
        .option('naming', {
          choices: NAMING_NAMES,
          describe: "with --sql: views with the names of BigQuery's crypto_ethereum, or of cryo",
        })
        .option('schema', { type: 'string', describe: 'with --sql: schema of the tables', requiresArg: true })
        .option('prefix', {
          type: 'string',
          describe: "with --sql: before each table's name",
          requiresArg: true,
        })
        .example('$0 schema --sql postgres | psql', 'create the tables by hand'),
    handler: (args) => {
      process.stdout.write(
        args.sql === undefined ? `${JSON.stringify(asJson(args), null, 2)}\n` : asSql(args),
      )
    },
  }
}

function asJson({ what, table, ...sqlOnly }: SchemaArguments): object {
  for (const option of ['naming', 'schema', 'prefix'] as const) {
    if (sqlOnly[option] === undefined) continue
    throw new ExportError('USAGE', `--${option} needs --sql`, {
      fix: `Add --sql ${DIALECT_NAMES.join('|')}.`,
    })
  }
  if (what === 'job') return jobSchema()
  const tables = tablesNamed(what, table)
  if (what === undefined && table === undefined) return { schemaVersion: 1, tables: TABLES }
  return tables.length === 1 ? (tables[0] as Table) : { schemaVersion: 1, tables }
}

function asSql({ what, table, sql = 'duckdb', naming, schema, prefix }: SchemaArguments): string {
  return schemaText({ sql, tables: tablesNamed(what, table), naming, place: { schema, prefix } })
}

function tablesNamed(what: string | undefined, more: readonly string[] = []): Table[] {
  const names = [...(what === undefined ? [] : [what]), ...more].flatMap((name) => name.split(','))
  for (const name of names) {
    if (TABLE_NAMES.some((known) => known === name)) continue
    throw new ExportError('USAGE', `there is no table ${name}`, {
      fix: `Name one of job, ${TABLE_NAMES.join(', ')}.`,
    })
  }
  return names.length === 0 ? [...TABLES] : TABLES.filter(({ name }) => names.includes(name))
}
