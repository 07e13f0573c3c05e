import type { Command } from 'commander'
import type { Job } from '../core/model.ts'
import { say } from '../report/say.ts'
import { counted } from '../report/words.ts'
import { hideOptions, jobOptions, type Overrides, readJobs } from './jobs.ts'

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
