import type { CommandModule } from 'yargs'
import { ExportError } from '../core/errors.ts'
import { TABLE_NAMES, TABLES, type Table } from '../core/table/index.ts'
import { loadInto, printLoad } from '../load/load.ts'
import type { LoadResult } from '../load/load-output.ts'
import { parseTargetUrl } from '../load/target-url.ts'
import { createLog, type LogFormat } from '../report/log.ts'
import { counted } from '../report/words.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'
import { onSignals } from './signals.ts'

type LoadArguments = {
  output?: string | undefined
  fromManifest?: string | undefined
  to?: string | undefined
  filesAt?: string | undefined
  tables?: string | string[] | undefined
  schema?: string | undefined
  prefix?: string | undefined
  source?: string | undefined
  commit?: 'load' | 'file' | undefined
  unescapeFormulas?: boolean | undefined
  memory?: string | undefined
  json: boolean
  logFormat?: LogFormat | undefined
  quiet: boolean
}

export function loadCommand(): CommandModule<object, LoadArguments> {
  return {
    command: 'load [output]',
    describe: 'load an export into a database; twice gives the same rows',
    builder: (argv) =>
      argv
        .positional('output', { describe: OUTPUT_OR_JOB, type: 'string' })
        .option('to', {
          type: 'string',
          describe:
            'duckdb:FILE, sqlite:FILE, postgres://…, clickhouse://…; or WALLETLAKE_LOAD_TO. bigquery:DATASET and snowflake:DB.SCHEMA print statements',
          requiresArg: true,
        })
        .option('from-manifest', {
          type: 'string',
          describe: 'path or http(s) address of a manifest.json instead of a folder',
          requiresArg: true,
        })
        .option('files-at', {
          type: 'string',
          describe: 'bigquery: gs://…, snowflake: @stage/…: where the files are',
          requiresArg: true,
        })
        .option('tables', {
          type: 'string',
          describe: 'only these, comma-separated',
          requiresArg: true,
        })
        .option('schema', { type: 'string', describe: 'schema of the tables', requiresArg: true })
        .option('prefix', { type: 'string', describe: "before each table's name", requiresArg: true })
        .option('source', {
          type: 'string',
          describe: "name of this output, where two have the same job's name",
          requiresArg: true,
        })
        .option('commit', {
          choices: ['load', 'file'] as const,
          default: 'load' as const,
          describe: 'one transaction for all, or one a file (postgres, duckdb)',
        })
        .option('unescape-formulas', {
          type: 'boolean',
          default: true,
          describe: "take the ' before CSV text like =1 away again (--no-unescape-formulas: keep it)",
        })
        .option('memory', {
          type: 'string',
          default: '256MB',
          describe: 'memory that DuckDB may take before it uses the disk',
          requiresArg: true,
        })
        .option('json', { type: 'boolean', default: false, describe: 'one JSON summary on stdout' })
        .option('log-format', {
          choices: ['pretty', 'json'] as const,
          default: 'pretty' as const,
          describe: 'form of the lines on stderr',
        })
        .option('quiet', { type: 'boolean', default: false, describe: 'errors only' })
        .example('$0 load output/demo --to duckdb:lake.db', 'into a DuckDB file')
        .example('$0 load output/demo --to postgres://me@db/lake', 'password from PGPASSWORD')
        .epilogue(
          'The target remembers in walletlake_loads what it has: new files are added, replaced ones replaced with their blocks.',
        ),
    handler: load,
  }
}

async function load(args: LoadArguments): Promise<void> {
  const { output, fromManifest, json, logFormat = 'pretty', quiet } = args
  const level = quiet ? 'error' : 'info'
  const log = createLog({ format: logFormat, level, write: (line) => process.stderr.write(`${line}\n`) })
  const from = await sourceOf(output, fromManifest)
  const to = parseTargetUrl(targetOf(args), process.env)
  const tables = tablesOf(args.tables)
  if ('place' in to) {
    process.stdout.write(await printLoad(from, to, { ...args, tables }))
    return
  }
  const stop = onSignals(log, 'what is not committed is undone')
  try {
    const { schema, prefix, source, commit, unescapeFormulas, memory } = args
    const result = await loadInto(from, to, {
      ...{ tables, source, commit, unescapeFormulas, memory: memoryOf(memory), place: { schema, prefix } },
      signal: stop.signal,
      onNotice: log.info,
      onFile: (name, rows) => log.info(`${name}: ${counted(rows, 'row')}`),
    })
    if (json) process.stdout.write(`${JSON.stringify({ to: to.title, ...result })}\n`)
    else if (!quiet) process.stdout.write(`${summaryOf(result, to.title)}\n`)
  } finally {
    stop.forget()
  }
}

async function sourceOf(output: string | undefined, manifest: string | undefined): Promise<string> {
  if (manifest !== undefined && output === undefined) return manifest
  if (output !== undefined && manifest === undefined)
    return IS_ADDRESS.test(output) ? output : (await outputOf(output)).output
  const found = output === undefined ? 'neither an output nor a manifest' : 'both an output and a manifest'
  throw new ExportError('USAGE', `${found} was named`, {
    fix: 'Name an output folder, or a manifest with --from-manifest.',
  })
}

const IS_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

function targetOf({ to = process.env.WALLETLAKE_LOAD_TO }: LoadArguments): string {
  if (to !== undefined && to !== '') return to
  throw new ExportError('USAGE', 'no target was named', {
    fix: 'Add --to duckdb:FILE, sqlite:FILE, postgres://… or clickhouse://…, or set WALLETLAKE_LOAD_TO.',
  })
}

function memoryOf(size: string | undefined): string | undefined {
  if (size === undefined || /^[1-9]\d{0,5}[MG]B$/.test(size)) return size
  throw new ExportError('USAGE', `--memory: found ${size}, expected a size such as 256MB or 2GB`)
}

function tablesOf(lists: string | string[] | undefined): Table[] | undefined {
  if (lists === undefined) return undefined
  const names = [lists].flat().flatMap((list) => list.split(',').map((name) => name.trim()))
  const stranger = names.find((name) => TABLE_NAMES.every((known) => known !== name))
  if (stranger === undefined) return TABLES.filter(({ name }) => names.includes(name))
  throw new ExportError('USAGE', `--tables: there is no table ${stranger}`, {
    fix: `Name some of ${TABLE_NAMES.join(', ')}.`,
  })
}

function summaryOf({ loaded, skipped, cleared }: LoadResult, title: string): string {
  const lines = Object.entries(loaded).map(
    ([table, { rows, files }]) => `  ${table}: ${counted(rows, 'row')} from ${counted(files, 'file')}`,
  )
  const kept = skipped === 0 ? [] : [`${counted(skipped, 'file')} there already`]
  const replaced = cleared === 0 ? [] : [`${counted(cleared, 'block range')} replaced`]
  const what = [lines.length === 0 ? 'nothing new' : 'loaded', ...kept, ...replaced].join(', ')
  return [`${title}: ${what}`, ...lines].join('\n')
}
