import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { Table } from '../../core/table/index.ts'
import { selectTables } from '../../core/table/select-tables.ts'
import { splitNames } from '../../job/fields/field-type.ts'
import { loadInto, printLoad } from '../../load/load.ts'
import type { LoadResult } from '../../load/load-output.ts'
import { parseTargetUrl, SHORT_FORMATS } from '../../load/target-url.ts'
import { isBucketUrl } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { openLog, plainLogOptions } from '../options/log.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { abortOnSignals } from '../signals.ts'
import { stdoutWriter } from '../stdout-writer.ts'

const options = defineOptions([
  {
    name: 'to',
    value: '<target>',
    description: `${SHORT_FORMATS}; or set WALLETLAKE_LOAD_TO. bigquery:DATASET and snowflake:DB.SCHEMA print load statements instead`,
  },
  {
    name: 'from-manifest',
    value: '<location>',
    description: 'Path or http(s) URL of a manifest.json, instead of an output',
  },
  {
    name: 'files-at',
    value: '<location>',
    description: 'Location of the files, for bigquery (gs://…) and snowflake (@stage/…)',
  },
  { name: 'tables', value: '<names>', repeatable: true, description: 'Only these tables, comma-separated' },
  { name: 'schema', value: '<name>', description: 'Database schema of the tables' },
  { name: 'prefix', value: '<text>', description: 'Prefix of the table names' },
  {
    name: 'source',
    value: '<name>',
    description: 'Name of this output in the database (default: the name of the job)',
  },
  {
    name: 'commit',
    value: '<unit>',
    choices: ['load', 'file'],
    default: 'load',
    description: 'Commit once per load or once per file (postgres, duckdb)',
  },
  { name: 'unescape-formulas', negatable: true, description: "Keep the ' before CSV text such as '=1" },
  {
    name: 'memory',
    value: '<size>',
    default: '256MB',
    description: 'Memory limit of DuckDB; above it, DuckDB spills to disk',
  },
  { name: 'json', description: 'Print a JSON summary on stdout' },
  ...plainLogOptions,
])
type LoadArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'load',
  summary: 'Load an export into a database',
  description: 'Load an export into a database (idempotent)',
  arguments: [{ name: 'output', description: OUTPUT_OR_JOB }],
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
  run: ({ output, ...args }) => load(output, args),
})

async function load(output: string | undefined, args: LoadArguments): Promise<void> {
  const { fromManifest, json, quiet } = args
  const log = openLog(args)
  const from = await manifestOrOutput(output, fromManifest)
  const to = parseTargetUrl(targetOf(args), process.env)
  const tables = parseTables(args.tables)
  if ('names' in to) {
    await stdoutWriter().write(await printLoad(from, to, { ...args, tables }))
    return
  }
  if (args.filesAt !== undefined)
    throw new ExportError('USAGE', `--files-at is for bigquery and snowflake, and not for ${to.title}`, {
      fix: 'Leave it out: this target is sent the rows themselves.',
    })
  const interruption = abortOnSignals(log, { outcome: 'uncommitted changes are rolled back' })
  try {
    const { schema, prefix, source, commit, unescapeFormulas, memory } = args
    const result = await loadInto(from, to, {
      tables,
      source,
      commit,
      unescapeFormulas,
      memory: parseMemory(memory),
      namespace: { schema, prefix },
      signal: interruption.signal,
      onNotice: log.info,
      onFile: (name, rows) => log.info(`${name}: ${formatCount(rows, 'row')}`),
    })
    if (json) printJson({ to: to.title, ...result })
    else if (!quiet) print(summaryLines(result, to.title))
  } finally {
    interruption.dispose()
  }
}

async function manifestOrOutput(output: string | undefined, manifest: string | undefined): Promise<string> {
  if (manifest !== undefined && output === undefined) return manifest
  if (output !== undefined && manifest === undefined)
    return IS_URL.test(output) && !isBucketUrl(output) ? output : (await openOutput(output)).output
  const problem =
    output === undefined ? 'neither an output nor a manifest was' : 'both an output and a manifest were'
  throw new ExportError('USAGE', `${problem} named`, {
    fix: 'Name an output folder, or a manifest with --from-manifest.',
  })
}

const IS_URL = /^[a-z][a-z0-9+.-]*:\/\//i

function targetOf({ to = process.env.WALLETLAKE_LOAD_TO }: LoadArguments): string {
  if (to !== undefined && to !== '') return to
  throw new ExportError('USAGE', 'no target was named', {
    fix: `Add --to ${SHORT_FORMATS}, or set WALLETLAKE_LOAD_TO.`,
  })
}

function parseMemory(size: string): string {
  if (/^[1-9]\d{0,5}[MG]B$/.test(size)) return size
  throw optionError('memory', { found: size, expected: 'a size such as 256MB or 2GB' })
}

function parseTables(lists: readonly string[] | undefined): Table[] | undefined {
  return lists && selectTables(splitNames(lists), { where: '--tables' })
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
