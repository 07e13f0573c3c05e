import { isAbsolute } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import { mergeDiagnostics } from '../../job/diagnostics.ts'
import { FIELD_OPTIONS } from '../../job/fields/fields.ts'
import { readJob } from '../../job/read-job.ts'
import { type JobOverrides, OVERRIDE_NAMES } from '../../job/resolve/overrides.ts'
import { defineOptions, type OptionValues } from '../command.ts'

/** Help text of arguments that accept several job files. */
export const JOB_FILES = 'Job files (YAML or JSON) or globs'

/** The options that override a job file: those of its fields, and two of settings that a job file does not have. */
export const overrideOptions = defineOptions([
  ...FIELD_OPTIONS.filter((option) => !('inline' in option)),
  {
    name: 'state-dir',
    value: '<folder>',
    description: 'Local folder for the checkpoints of object store outputs',
  },
  {
    name: 'escape-formulas',
    negatable: true,
    description: "Do not put ' before CSV text that a spreadsheet would run",
  },
])

export type Overrides = OptionValues<typeof overrideOptions>

/**
 * Reads all given jobs.
 *
 * @param options.needsService also report jobs without a data service
 * @throws JOB_INVALID with the diagnostics of all files
 * @throws USAGE if a glob matches no file, or if `--output` is given for several jobs
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

/** Reads the job of a command that accepts exactly one. Throws like `readJobs`, and USAGE if there are several. */
export async function readSingleJob(file: string, overrides: Overrides): Promise<Job> {
  const [job, ...others] = await readJobs([file], overrides)
  if (job === undefined) throw new ExportError('USAGE', `no job ${file}`)
  if (others.length === 0) return job
  throw new ExportError('USAGE', `${file} names ${others.length + 1} jobs, and this command takes one`, {
    fix: 'Name one job file.',
  })
}

/** Selects the options of a command that override fields of a job. */
function pickOverrides(options: Overrides): JobOverrides {
  return Object.fromEntries(Object.entries(options).filter(([name]) => OVERRIDE_NAMES.includes(name)))
}

/** Names without glob characters are not expanded, so that a missing file is reported by its name. */
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
