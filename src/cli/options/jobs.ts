import { isAbsolute } from 'node:path'
import { type Command, Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import { TABLE_NAMES } from '../../core/table/index.ts'
import { mergeDiagnostics } from '../../job/diagnostics.ts'
import { readJob } from '../../job/read-job.ts'
import { type JobOverrides, OVERRIDE_NAMES } from '../../job/resolve/overrides.ts'
import { collect } from './collect.ts'

/** For the help of commands that read several. */
export const JOB_FILES = 'Job files (YAML or JSON) or globs'

/** Job files and the options that override them. */
export function jobOptions(command: Command): Command {
  return overrideOptions(command.argument('<jobs...>', JOB_FILES))
}

/** The options that override a job file. */
export function overrideOptions(command: Command): Command {
  return command
    .option('--base-url <url>', 'Base URL of the API, or demo')
    .option('--output <location>', 'Output folder or s3://bucket/prefix (one job only)')
    .option('--state-dir <folder>', 'Local folder for the checkpoints of object store outputs')
    .option('--format <format>', 'File format: csv, parquet')
    .option('--compression <name>', 'csv: none, gzip; parquet: zstd, snappy, gzip, none')
    .option('--partition-by <unit>', 'Partition tables into folders: none, day, month, blocks:<n>')
    .option('--target-file-size <size>', 'Start a new file at this size before compression, such as 256MB')
    .option('--concurrency <n>', 'Maximum concurrent requests, 1 to 256')
    .option('--tables <names>', `Tables, comma-separated: ${TABLE_NAMES.join(', ')}`, collect)
    .addOption(new Option('--escape-formulas').hideHelp())
    .option('--no-escape-formulas', "Do not put ' before CSV text that a spreadsheet would run")
}

/** Has a command take its options without a word: they change what it reads, but rarely does one need them there. */
export function hideOptions(command: Command): Command {
  for (const option of command.options) option.hideHelp()
  return command
}

export type Overrides = {
  baseUrl?: string
  output?: string
  stateDir?: string
  format?: string
  compression?: string
  partitionBy?: string
  targetFileSize?: string
  concurrency?: string
  tables?: string[]
  escapeFormulas?: boolean
}

/**
 * Reads all named jobs; every complaint of every file in one JOB_INVALID. Where a service is needed, a job that names
 * none is complained of as well.
 */
export async function readJobs(
  patterns: readonly string[],
  overrides: Overrides,
  { needsService = false } = {},
): Promise<Job[]> {
  const files = await expandGlobs(patterns)
  if (overrides.output !== undefined && files.length > 1) {
    throw new ExportError('USAGE', `--output names one folder, but there are ${files.length} jobs`, {
      fix: 'Give each job its own `output`, or run them one by one.',
    })
  }
  const options = { overrides: pickOverrides(overrides), env: process.env, needsService }
  const results = await Promise.allSettled(files.map((file) => readJob(file, options)))
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  )
  const unexpected = failures.find(
    (reason) => !(reason instanceof ExportError && reason.code === 'JOB_INVALID'),
  )
  if (unexpected !== undefined) throw unexpected
  if (failures.length > 0) {
    const messages = failures.map((reason) => (reason as ExportError).lines)
    const [fix, ...others] = new Set(failures.map((reason) => (reason as ExportError).fix))
    const isCommon = fix !== undefined && others.length === 0
    throw new ExportError('JOB_INVALID', mergeDiagnostics(messages), isCommon ? { fix } : {})
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

/** Reads the job of a command that takes one alone. Throws as `readJobs` does. */
export async function readSingleJob(file: string, overrides: Overrides): Promise<Job> {
  const [job, ...others] = await readJobs([file], overrides)
  if (job === undefined) throw new ExportError('USAGE', `no job ${file}`)
  if (others.length === 0) return job
  throw new ExportError('USAGE', `${file} names ${others.length + 1} jobs, and this command takes one`, {
    fix: 'Name one job file.',
  })
}

/** Of a command's options those that override a job. */
function pickOverrides(options: Overrides): JobOverrides {
  return Object.fromEntries(Object.entries(options).filter(([name]) => OVERRIDE_NAMES.includes(name)))
}

/** A name without glob characters stands for itself, so that a missing file is named in the complaint. */
async function expandGlobs(patterns: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => {
      if (!/[*?[\]{}]/.test(pattern)) return [pattern]
      const { glob } = await import('tinyglobby')
      const files = await glob([pattern], { absolute: isAbsolute(pattern) })
      if (files.length > 0) return files.sort()
      throw new ExportError('USAGE', `no file matches ${pattern}`, {
        fix: 'Check the pattern, or name job files.',
      })
    }),
  )
  return [...new Set(found.flat())]
}
