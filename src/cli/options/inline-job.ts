import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import { FIELD_OPTIONS } from '../../job/fields/fields.ts'
import { readInlineJob } from '../../job/read-job.ts'
import { overrideName } from '../../job/resolve/overrides.ts'
import type { OptionValues } from '../command.ts'
import { type Overrides, readJobs } from './jobs.ts'

/** Options that define a job on the command line instead of in a file. */
export const inlineJobOptions = FIELD_OPTIONS.filter((option) => 'inline' in option).map((option) => ({
  ...option,
  description: `Without a job file: ${option.description}`,
}))

export type InlineJobArguments = OptionValues<typeof inlineJobOptions>

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
  const inlineOption = inlineJobOptions.find((option) => given[overrideName(option)] !== undefined)
  if (files.length > 0 && inlineOption !== undefined)
    throw new ExportError('USAGE', `--${inlineOption.name} is for a job without a file`, {
      fix: 'Name job files, or a chain and wallets, but not both.',
    })
  if (files.length > 0) return readJobs(files, args, options)
  if (inlineOption !== undefined) return [await inlineJobFrom(args)]
  throw new ExportError('USAGE', 'no job was named', { fix: INLINE_JOB_FIX })
}

const INLINE_JOB_FIX = 'Name a job file, or a chain and its wallets: --chain 43114 --address 0x…'

/** The default name consists of the chain and the first wallet, so that added wallets continue the same output. */
function inlineJobFrom(args: Overrides & InlineJobArguments): Promise<Job> {
  const { chain, address } = args
  if (chain === undefined) throw new ExportError('USAGE', 'there is no --chain', { fix: INLINE_JOB_FIX })
  if (address === undefined) throw new ExportError('USAGE', 'there is no --address', { fix: INLINE_JOB_FIX })
  const { name = defaultJobName(chain, address[0]) } = args
  return readInlineJob({ overrides: { ...args, name }, env: process.env })
}

const MAX_NAME_LENGTH = 64

/** Invalid characters are replaced, so that a bad chain or address is not reported a second time as a bad name. */
function defaultJobName(chain: string, address = ''): string {
  const suffix = `-${address.slice(0, 42)}`
  const name = `${chain.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`.toLowerCase()
  return name.replaceAll(/^[^a-z0-9]+|[^a-z0-9._-]/g, 'x')
}
