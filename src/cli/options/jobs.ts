import { isAbsolute } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import { FIELD_OPTIONS } from '../../job/fields/fields.ts'
import { readInlineJob, readJob } from '../../job/read-job.ts'
import { type JobOverrides, OVERRIDE_NAMES, overrideName } from '../../job/resolve/overrides.ts'
import { type OptionValues, option } from '../command.ts'
import { usageError } from '../usage-error.ts'

/** The argument of commands that accept several job files. */
export const jobsArgument = {
  name: 'jobs',
  repeatable: true,
  description: 'Job files (YAML or JSON) or globs',
} as const

/** The options that override a job file: those of its fields, and two of settings that a job file does not have. */
export const overrideOptions = [
  ...FIELD_OPTIONS.filter((field) => !('inline' in field)),
  option('state-dir <folder>', 'Local folder for the checkpoints of object store outputs'),
  option('escape-formulas', "Do not put ' before CSV text that a spreadsheet would run", { negatable: true }),
]

/** Options that define a job on the command line instead of in a file. */
export const inlineJobOptions = FIELD_OPTIONS.filter((field) => 'inline' in field).map((field) => ({
  ...field,
  description: `Without a job file: ${field.description}`,
}))

/** Groups of the options of jobs in the help. */
export const JOB_GROUPS = {
  Wallets: ['chain', 'address', 'name', 'start-block', 'end-block', 'finality'],
  Service: [
    'base-url',
    'api',
    'tier',
    'timeout',
    'concurrency',
    'allow-plain-http',
    'max-requests',
    'deadline',
  ],
  Output: [
    'output',
    'tables',
    'format',
    'table',
    'numbers',
    'compression',
    'partition-by',
    'target-file-size',
    'max-rows-per-file',
    'keep-raw',
    'state-dir',
    'escape-formulas',
    'fresh',
    'lookback',
  ],
  Content: ['wraps', 'wrapped-coins', 'internals', 'atomic', 'fees', 'fees-budget'],
} as const

export type Overrides = OptionValues<typeof overrideOptions>
export type InlineJobArguments = OptionValues<typeof inlineJobOptions>

/**
 * Reads all given jobs.
 *
 * @param options.needsService also report jobs without a data service
 * @throws JOB_INVALID with the diagnostics of all files
 * @throws USAGE if a glob matches no file, or if `--output` is given for several jobs
 */
export async function readJobs(
  patterns: readonly string[],
  args: Overrides,
  { needsService = false } = {},
): Promise<Job[]> {
  const files = await expandGlobs(patterns)
  if (args.output !== undefined && files.length > 1)
    throw usageError(
      `--output names one folder, but there are ${files.length} jobs`,
      'Give each job its own `output`, or run them one by one.',
    )
  const overrides: JobOverrides = Object.fromEntries(
    Object.entries(args).filter(([name]) => OVERRIDE_NAMES.includes(name)),
  )
  const options = { overrides, env: process.env, needsService }
  const results = await Promise.allSettled(files.map((file) => readJob(file, options)))
  const invalid: ExportError[] = []
  for (const result of results) {
    if (result.status === 'fulfilled') continue
    const reason: unknown = result.reason
    if (!(reason instanceof ExportError && reason.code === 'JOB_INVALID')) throw reason
    invalid.push(reason)
  }
  if (invalid.length > 0) {
    const lines = [...new Set(invalid.flatMap((error) => error.lines))]
    const [fix, ...others] = new Set(invalid.map((error) => error.fix))
    throw new ExportError('JOB_INVALID', lines, { fix: others.length === 0 ? fix : undefined })
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

/** Reads the job of a command that accepts exactly one. Throws like `readJobs`, and USAGE if there are several. */
export async function readSingleJob(file: string, overrides: Overrides): Promise<Job> {
  const [job, ...others] = await readJobs([file], overrides)
  if (job !== undefined && others.length === 0) return job
  const message = `${file} names ${others.length + 1} jobs, and this command takes one`
  throw usageError(message, 'Name one job file.')
}

/** Names without glob characters are not expanded, so that a missing file is reported by its name. */
async function expandGlobs(patterns: readonly string[]): Promise<string[]> {
  const expanded = await Promise.all(
    patterns.map(async (pattern) => {
      if (!/[*?[\]{}]/.test(pattern)) return [pattern]
      const { glob } = await import('tinyglobby')
      const files = await glob([pattern], { absolute: isAbsolute(pattern) })
      if (files.length > 0) return files.sort()
      throw usageError(`no file matches ${pattern}`, 'Check the pattern, or name job files.')
    }),
  )
  return [...new Set(expanded.flat())]
}

/**
 * Reads the jobs of all given files, or the job that options define without a file. Throws USAGE or JOB_INVALID.
 *
 * @param options.needsService also report job files without a data service
 */
export async function readJobsOrInlineJob(
  files: readonly string[],
  args: Overrides & InlineJobArguments,
  options: { needsService?: boolean } = {},
): Promise<Job[]> {
  const given: Readonly<Record<string, unknown>> = args
  const inlineOption = inlineJobOptions.find((field) => given[overrideName(field)] !== undefined)
  if (files.length > 0 && inlineOption !== undefined)
    throw usageError(
      `--${inlineOption.name} is for a job without a file`,
      'Name job files, or a chain and wallets, but not both.',
    )
  if (files.length > 0) return readJobs(files, args, options)
  const fix = 'Name a job file, or a chain and its wallets: --chain 43114 --address 0x…'
  if (inlineOption === undefined) throw usageError('no job was named', fix)
  const { chain, address } = args
  if (chain === undefined) throw usageError('there is no --chain', fix)
  if (address === undefined) throw usageError('there is no --address', fix)
  const { name = defaultJobName(chain, address[0]) } = args
  return [await readInlineJob({ overrides: { ...args, name }, env: process.env })]
}

const MAX_NAME_LENGTH = 64

/**
 * The chain and the first wallet, so that added wallets continue the same output. Invalid characters are replaced, so that a
 * bad chain or address is not reported a second time as a bad name.
 */
function defaultJobName(chain: string, address = ''): string {
  const suffix = `-${address.slice(0, 42)}`
  const name = `${chain.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`.toLowerCase()
  return name.replaceAll(/^[^a-z0-9]+|[^a-z0-9._-]/g, 'x')
}
