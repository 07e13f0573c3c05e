import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import { readInlineJob } from '../../job/read-job.ts'
import { defineOptions, type OptionValues } from '../command.ts'
import { type Overrides, readJobs } from './jobs.ts'

/** What a job needs at least, on the command line instead of in a file. */
export const inlineJobOptions = defineOptions([
  { name: 'chain', value: '<id>', description: 'Without a job file: EVM chain id or blockchain id' },
  {
    name: 'address',
    value: '<wallet>',
    repeatable: true,
    description: 'Without a job file: wallet, 0x… or 0x…=label (repeatable)',
  },
  { name: 'start-block', value: '<n>', description: 'Without a job file: first block (default: 0)' },
  {
    name: 'end-block',
    value: '<n>',
    description: 'Without a job file: end block, exclusive (default: the head)',
  },
  {
    name: 'name',
    value: '<name>',
    description: 'Without a job file: name of the job (default: <chain>-<address>)',
  },
])

export type InlineJobArguments = OptionValues<typeof inlineJobOptions>

/** The jobs of all named files, or the one that options make without a file. Throws USAGE, JOB_INVALID. */
export async function readJobsOrInlineJob(
  files: readonly string[],
  args: Overrides & InlineJobArguments,
): Promise<Job[]> {
  const givenOptions = INLINE_OPTIONS.filter(([field]) => args[field] !== undefined)
  if (files.length > 0 && givenOptions.length > 0)
    throw new ExportError('USAGE', `${givenOptions[0]?.[1]} is for a job without a file`, {
      fix: 'Name job files, or a chain and wallets, but not both.',
    })
  if (files.length > 0) return readJobs(files, args)
  if (givenOptions.length > 0) return [await inlineJobFrom(args)]
  throw new ExportError('USAGE', 'no job was named', { fix: INLINE_JOB_FIX })
}

const INLINE_OPTIONS = [
  ['chain', '--chain'],
  ['address', '--address'],
  ['name', '--name'],
  ['startBlock', '--start-block'],
  ['endBlock', '--end-block'],
] as const
const INLINE_JOB_FIX = 'Name a job file, or a chain and its wallets: --chain 43114 --address 0x…'

/** Without a name it is called after its chain and the wallet named first: more wallets go on with the same output. */
function inlineJobFrom(args: Overrides & InlineJobArguments): Promise<Job> {
  const { chain, address } = args
  if (chain === undefined) throw new ExportError('USAGE', 'there is no --chain', { fix: INLINE_JOB_FIX })
  if (address === undefined) throw new ExportError('USAGE', 'there is no --address', { fix: INLINE_JOB_FIX })
  const { name = defaultJobName(chain, address[0]) } = args
  return readInlineJob({ overrides: { ...args, name }, env: process.env })
}

const MAX_NAME_LENGTH = 64

/** What is wrong with chain or address is complained of there, and not once more in the name. */
function defaultJobName(chain: string, address = ''): string {
  const suffix = `-${address.slice(0, 42)}`
  const name = `${chain.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`.toLowerCase()
  return name.replaceAll(/^[^a-z0-9]+|[^a-z0-9._-]/g, 'x')
}
