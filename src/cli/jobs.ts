import type { Argv } from 'yargs'
import { ExportError } from '../core/errors.ts'
import type { Job } from '../core/model.ts'
import { TABLE_NAMES } from '../core/table/index.ts'
import { shrinkHeap } from '../core/v8.ts'
import { type JobOverrides, readJob } from '../job/read-job.ts'

/** Job files and the options that override them, shared by the commands that read several. */
export function jobOptions<T>(argv: Argv<T>) {
  return overrideOptions(
    argv.positional('jobs', {
      describe: 'job files (YAML or JSON) or globs',
      type: 'string',
      array: true,
      demandOption: true,
    }),
  )
}

/** The options that override a job file. */
export function overrideOptions<T>(argv: Argv<T>) {
  return argv
    .option('base-url', { type: 'string', describe: 'address of the service, or `demo`', requiresArg: true })
    .option('output', { type: 'string', describe: 'output folder (one job only)', requiresArg: true })
    .option('format', { type: 'string', describe: 'csv or parquet', requiresArg: true })
    .option('compression', {
      type: 'string',
      describe: 'csv: none, gzip; parquet: zstd, snappy, gzip, none',
      requiresArg: true,
    })
    .option('partition-by', {
      type: 'string',
      describe: 'folders inside tables: none, day, month, blocks:<n>',
      requiresArg: true,
    })
    .option('target-file-size', {
      type: 'string',
      describe: 'a next file from so many bytes of lines on, such as 256MB',
      requiresArg: true,
    })
    .option('concurrency', {
      type: 'string',
      describe: 'requests in flight at most, 1 to 256',
      requiresArg: true,
    })
    .option('tables', {
      type: 'string',
      describe: `comma-separated: ${TABLE_NAMES.join(', ')}`,
      requiresArg: true,
    })
    .option('escape-formulas', {
      type: 'boolean',
      default: true,
      describe: "a ' before CSV text that starts a formula (--no-escape-formulas: off)",
    })
}

export type JobArguments = Overrides & { jobs: string[] }

export type Overrides = {
  baseUrl?: string | undefined
  output?: string | undefined
  format?: string | undefined
  compression?: string | undefined
  partitionBy?: string | undefined
  targetFileSize?: string | undefined
  concurrency?: string | undefined
  tables?: string | string[] | undefined
  escapeFormulas?: boolean | undefined
}

/** Reads all named jobs; every complaint of every file in one JOB_INVALID. */
export async function readJobs(args: JobArguments): Promise<Job[]> {
  const files = await expand(args.jobs)
  if (args.output !== undefined && files.length > 1) {
    throw new ExportError('USAGE', `--output names one folder, but there are ${files.length} jobs`, {
      fix: 'Give each job its own `output`, or run them one by one.',
    })
  }
  const overrides = overridesOf(args)
  const read = await Promise.allSettled(files.map((file) => readJob(file, { overrides, env: process.env })))
  const failures = read.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const foreign = failures.find((reason) => !(reason instanceof ExportError && reason.code === 'JOB_INVALID'))
  if (foreign !== undefined) throw foreign
  if (failures.length > 0) {
    const lines = new Set(failures.flatMap((reason) => (reason as ExportError).message.split('\n')))
    throw new ExportError('JOB_INVALID', [...lines].join('\n'))
  }
  const jobs = read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  // What reading a long list of addresses leaves behind is several times what is kept of it.
  if (jobs.some(({ wallets }) => wallets.length > MANY_WALLETS)) await shrinkHeap()
  return jobs
}

const MANY_WALLETS = 1_000

function overridesOf({ jobs: _jobs, tables, ...given }: JobArguments): JobOverrides {
  const { baseUrl, output, format, compression, concurrency, escapeFormulas } = given
  const { partitionBy, targetFileSize } = given
  return {
    baseUrl,
    output,
    format,
    compression,
    concurrency,
    partitionBy,
    targetFileSize,
    tables: tables === undefined ? undefined : [tables].flat(),
    escapeFormulas,
  }
}

/** A name without glob characters stands for itself, so that a missing file is named in the complaint. */
async function expand(patterns: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => {
      if (!/[*?[\]{}]/.test(pattern)) return [pattern]
      const { glob } = await import('tinyglobby')
      const files = await glob([pattern], { absolute: false })
      if (files.length > 0) return files.sort()
      throw new ExportError('USAGE', `no file matches ${pattern}`, {
        fix: 'Check the pattern, or name job files.',
      })
    }),
  )
  return [...new Set(found.flat())]
}
