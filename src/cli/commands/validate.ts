import type { Command } from 'commander'
import type { Job } from '../../core/model/model.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { hideOptions, jobOptions, type Overrides, readJobs } from '../options/jobs.ts'

export function validateCommand(program: Command): void {
  const command = program.command('validate').description('Check job files')
  hideOptions(jobOptions(command)).action(async (jobs: string[], args: Overrides) => {
    for (const job of await readJobs(jobs, args, { needsService: true }))
      print(`${job.file}: good (chain ${job.chain}, ${jobSize(job)})`)
  })
}

function jobSize({ kind, wallets, startBlock, endBlock = startBlock }: Job): string {
  return kind === 'blocks'
    ? formatCount(endBlock - startBlock, 'block')
    : formatCount(wallets.length, 'wallet')
}
