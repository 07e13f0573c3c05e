import type { Job } from '../../core/model/model.ts'
import { requireFeatures } from '../../export/check-job.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, hideOptions } from '../command.ts'
import { jobsArgument, overrideOptions, readJobs } from '../options/jobs.ts'

export const command = defineCommand({
  name: 'validate',
  summary: 'Check job files',
  arguments: [{ ...jobsArgument, required: true }],
  options: hideOptions(overrideOptions),
  run: async ({ jobs, ...args }) => {
    for (const job of await readJobs(jobs, args, { needsService: true })) {
      requireFeatures(job)
      print(`${job.file}: OK (chain ${job.chain}, ${jobSize(job)})`)
    }
  },
})

function jobSize({ kind, wallets, startBlock, endBlock = startBlock }: Job): string {
  return kind === 'blocks'
    ? formatCount(endBlock - startBlock, 'block')
    : formatCount(wallets.length, 'wallet')
}
