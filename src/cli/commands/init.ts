import { writeFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import { APIS, DEFAULT_API } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { FORMAT_NAMES, type Job } from '../../core/model/model.ts'
import { makeFolder } from '../../core/platform/disk.ts'
import { entryAt } from '../../core/platform/entry.ts'
import { splitWallet } from '../../job/addresses/addresses.ts'
import { FIELDS } from '../../job/fields/fields.ts'
import { readInlineJob } from '../../job/read-job.ts'
import { jobTemplate } from '../../job/yaml/job-template.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { shellQuote } from '../../terminal/shell-quote.ts'
import { defineCommand, option } from '../command.ts'
import { programName } from '../program-name.ts'
import { type JobInputs, promptForJob } from '../prompt-job.ts'

export const command = defineCommand({
  name: 'init',
  summary: 'Write a commented job file',
  description: 'Write a commented job file; on a terminal, prompt for missing values',
  arguments: [{ name: 'file', default: 'jobs/mine.yaml', description: 'Job file to write' }],
  options: [
    option('chain <id>', 'EVM chain id or blockchain id'),
    option('address <wallet>', 'Wallet, 0x… or 0x…=label (repeatable)', { repeatable: true }),
    option('base-url <url>', 'Base URL of the service, or demo; or set WALLETLAKE_BASE_URL'),
    option(
      'api <name>',
      `API of the service: ${APIS.join(', ')} (default: that of a known host, otherwise ${DEFAULT_API}); or set WALLETLAKE_API`,
    ),
    option('format <format>', `File format: ${FORMAT_NAMES.join(', ')} (default: ${FIELDS.format.default})`),
    option('start-block <n>', 'First block (default: 0)'),
    option('force', 'Overwrite an existing file'),
  ],
  examples: [['init --chain 43114 --address 0x…=savings --base-url https://…', 'Without prompts']],
  run: async ({ file, force = false, ...inputs }) => {
    await requireNewFile(file, force)
    const allInputs = await completeInputs(inputs)
    const name = basename(file, extname(file))
    const job = await readInlineJob({ overrides: { ...allInputs, name: slugOf(name) }, env: {} })
    const text = jobTemplate({
      file,
      name: job.name === name ? undefined : job.name,
      chain: job.chain,
      format: job.format,
      wallets: (allInputs.address ?? []).map(splitWallet),
      baseUrl: job.service.baseUrl ?? '',
      api: allInputs.api === undefined ? undefined : job.service.api,
      startBlock: allInputs.startBlock === undefined ? undefined : job.startBlock,
    })
    await makeFolder(dirname(file))
    await writeFile(file, text, { flag: force ? 'w' : 'wx' })
    print(closingLines(file, job))
  },
})

async function requireNewFile(file: string, force: boolean): Promise<void> {
  if (!['.yaml', '.yml'].includes(extname(file)))
    throw new ExportError('USAGE', `${file}: a job file ends in .yaml`, { fix: `Name ${file}.yaml.` })
  if (force || (await entryAt(file)) === undefined) return
  throw new ExportError('USAGE', `${file} already exists`, {
    fix: 'Name another file, or write over this one with --force.',
  })
}

/** Prompts for missing values on a terminal. Otherwise throws USAGE if a required value is missing. */
async function completeInputs(inputs: JobInputs): Promise<JobInputs> {
  const { WALLETLAKE_BASE_URL: baseUrl, WALLETLAKE_API: api } = process.env
  const withDefaults: JobInputs = { baseUrl, api, ...inputs }
  const missing = REQUIRED_INPUTS.filter(([field]) => withDefaults[field] === undefined).map(
    ([, option]) => option,
  )
  if (missing.length === 0) return withDefaults
  if (process.stdin.isTTY && process.stderr.isTTY)
    return promptForJob(withDefaults, { input: process.stdin, output: process.stderr })
  throw new ExportError('USAGE', `there is no ${missing.join(', no ')}`, {
    fix: 'Give --chain, --address and --base-url, or answer the questions on a terminal.',
  })
}

const REQUIRED_INPUTS = [
  ['chain', '--chain'],
  ['address', '--address'],
  ['baseUrl', '--base-url'],
] as const

/** Converts a file name to a valid job name. */
function slugOf(name: string): string {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
  return slug.replace(/^[^a-z0-9]+/, '').slice(0, 64) || 'job'
}

function closingLines(file: string, { chain, wallets, service }: Job): string[] {
  const [program, job] = [programName(), shellQuote(file)]
  return [
    `Created ${file}: chain ${chain}, ${formatCount(wallets.length, 'wallet')}.`,
    'Next:',
    ...(service.baseUrl === 'demo' ? [] : ['  export WALLETLAKE_API_KEY=…   (if the service needs a key)']),
    `  ${program} plan ${job}`,
    `  ${program} run ${job}`,
  ]
}
