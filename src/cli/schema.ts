import type { CommandModule } from 'yargs'
import { ExportError } from '../errors.ts'
import { jobSchema } from '../job/job-schema.ts'
import { TABLE_NAMES, TABLES } from '../table/index.ts'

export function schemaCommand(): CommandModule<object, { what: string | undefined }> {
  return {
    command: 'schema [what]',
    describe: 'print the tables and their columns, or `job`: the job file format',
    builder: (argv) =>
      argv.positional('what', {
        describe: 'a table, or `job` for the JSON Schema of job files',
        type: 'string',
      }),
    handler: ({ what }) => {
      process.stdout.write(`${JSON.stringify(schemaOf(what), null, 2)}\n`)
    },
  }
}

function schemaOf(what: string | undefined): object {
  if (what === 'job') return jobSchema()
  if (what === undefined) return { schemaVersion: 1, tables: TABLES }
  const table = TABLES.find(({ name }) => name === what)
  if (table !== undefined) return table
  throw new ExportError('USAGE', `there is no table ${what}`, {
    fix: `Name one of job, ${TABLE_NAMES.join(', ')}.`,
  })
}
