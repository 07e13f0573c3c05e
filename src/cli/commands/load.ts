import { optionError } from '../../core/model/option-error.ts'
import { selectTables } from '../../core/table/select-tables.ts'
import { splitNames } from '../../job/fields/field-type.ts'
import { parseTargetUrl, SHORT_FORMATS } from '../../load/addresses.ts'
import type { LoadResult } from '../../load/load.ts'
import { loadInto, printLoad } from '../../load/load.ts'
import { isBucketUrl } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { plainLogOptions, withSignals } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { stdoutWriter } from '../result-file.ts'
import { usageError } from '../usage-error.ts'

const options = [
  option(
    'to <target>',
    `${SHORT_FORMATS}; or set WALLETLAKE_LOAD_TO. bigquery:DATASET and snowflake:DB.SCHEMA print load statements instead`,
  ),
  option('from-manifest <location>', 'Path or http(s) URL of a manifest.json, instead of an output'),
  option('files-at <location>', 'Location of the files, for bigquery (gs://…) and snowflake (@stage/…)'),
  option('tables <names>', 'Only these tables, comma-separated', { repeatable: true }),
  option('schema <name>', 'Database schema of the tables'),
  option('prefix <text>', 'Prefix of the table names'),
  option('source <name>', 'Name of this output in the database (default: the name of the job)'),
  option('commit <unit>', 'Commit once per load or once per file (postgres, duckdb)', {
    choices: ['load', 'file'],
    default: 'load',
  }),
  option('unescape-formulas', "Keep the ' before CSV text such as '=1", { negatable: true }),
  option('memory <size>', 'Memory limit of DuckDB; above it, DuckDB spills to disk', {
    default: '256MB',
    parse: parseMemory,
  }),
  option('json', 'Print a JSON summary on stdout'),
  ...plainLogOptions,
]
type LoadArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'load',
  summary: 'Load an export into a database',
  description: 'Load an export into a database (idempotent)',
  arguments: [{ name: 'output', description: outputArgument.description }],
  options,
  examples: [
    ['load output/demo --to duckdb:lake.db', 'Load into a DuckDB file'],
    [
      'load output/demo --to postgres://me@db/lake',
      'Load into PostgreSQL; the password comes from PGPASSWORD',
    ],
  ],
  epilogue: `The table walletlake_loads records which files were loaded. A later load adds
new files and updates the rows of files that were replaced. Rows that did not
change are not touched.`,
  run: async ({ output, ...args }) => {
    const from = await manifestOrOutput(output, args.fromManifest)
    const to = parseTargetUrl(targetOf(args), process.env)
    const tables = args.tables && selectTables(splitNames(args.tables), { where: '--tables' })
    if ('names' in to) return stdoutWriter().write(await printLoad(from, to, { ...args, tables }))
    if (args.filesAt !== undefined)
      throw usageError(
        `--files-at is for bigquery and snowflake, and not for ${to.title}`,
        'Leave it out: this target is sent the rows themselves.',
      )
    const interruption = { outcome: 'uncommitted changes are rolled back' }
    await withSignals({ ...args, interruption }, async ({ log, signal }) => {
      const { schema, prefix, source, commit, unescapeFormulas, memory } = args
      const result = await loadInto(from, to, {
        tables,
        source,
        commit,
        unescapeFormulas,
        memory,
        namespace: { schema, prefix },
        signal,
        onNotice: log.info,
        onFile: (name, rows) => log.info(`${name}: ${formatCount(rows, 'row')}`),
      })
      if (args.json) printJson({ to: to.title, ...result })
      else if (!args.quiet) print(summaryLines(result, to.title))
    })
  },
})

async function manifestOrOutput(output: string | undefined, manifest: string | undefined): Promise<string> {
  if (manifest !== undefined && output === undefined) return manifest
  if (output !== undefined && manifest === undefined)
    return IS_URL.test(output) && !isBucketUrl(output) ? output : (await openOutput(output)).output
  const problem =
    output === undefined ? 'neither an output nor a manifest was' : 'both an output and a manifest were'
  throw usageError(`${problem} named`, 'Name an output folder, or a manifest with --from-manifest.')
}

const IS_URL = /^[a-z][a-z0-9+.-]*:\/\//i

function targetOf({ to = process.env.WALLETLAKE_LOAD_TO }: LoadArguments): string {
  if (to !== undefined && to !== '') return to
  throw usageError('no target was named', `Add --to ${SHORT_FORMATS}, or set WALLETLAKE_LOAD_TO.`)
}

function parseMemory(size: string): string {
  if (/^[1-9]\d{0,5}[MG]B$/.test(size)) return size
  throw optionError('memory', { found: size, expected: 'a size such as 256MB or 2GB' })
}

function summaryLines({ loaded, skipped, updated }: LoadResult, title: string): string[] {
  const lines = Object.entries(loaded).map(
    ([table, { rows, files }]) =>
      `  ${table}: ${formatCount(rows, 'row')} from ${formatCount(files, 'file')}`,
  )
  const skippedText = skipped === 0 ? [] : [`${formatCount(skipped, 'file')} already loaded`]
  const updatedText = updated === 0 ? [] : [`${formatCount(updated, 'block range')} updated`]
  const message = [lines.length === 0 ? 'nothing new' : 'loaded', ...skippedText, ...updatedText].join(', ')
  return [`${title}: ${message}`, ...lines]
}
