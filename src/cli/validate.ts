import type { CommandModule } from 'yargs'
import type { Job } from '../core/model.ts'
import { say } from '../report/say.ts'
import { counted } from '../report/words.ts'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function validateCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'validate <jobs..>',
    describe: 'check job files and nothing else',
    builder: jobOptions,
    handler: async (args) => {
      for (const job of await readJobs(args)) say(`${job.file}: good (chain ${job.chain}, ${extentOf(job)})`)
    },
  }
}

function extentOf({ kind, wallets, startBlock, endBlock = startBlock }: Job): string {
  return kind === 'blocks' ? counted(endBlock - startBlock, 'block') : counted(wallets.length, 'wallet')
}
