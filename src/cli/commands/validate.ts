import type { Command } from 'commander'
import type { Job } from '../../core/model/model.ts'
import { counted } from '../../terminal/format.ts'
import { say } from '../../terminal/print.ts'
import { hideOptions, jobOptions, type Overrides, readJobs } from '../options/jobs.ts'

export function validateCommand(program: Command): void {
  const command = program.command('validate').description('Check job files')
  hideOptions(jobOptions(command)).action(async (jobs: string[], args: Overrides) => {
    for (const job of await readJobs(jobs, args, { needsService: true }))
      say(`${job.file}: good (chain ${job.chain}, ${extentOf(job)})`)
  })
}

function extentOf({ kind, wallets, startBlock, endBlock = startBlock }: Job): string {
  return kind === 'blocks' ? counted(endBlock - startBlock, 'block') : counted(wallets.length, 'wallet')
}
