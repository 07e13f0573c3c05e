import type { CommandModule } from 'yargs'
import { say } from '../report/say.ts'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function validateCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'validate <jobs..>',
    describe: 'check job files and nothing else',
    builder: jobOptions,
    handler: async (args) => {
      for (const { file, wallets, chain } of await readJobs(args)) {
        say(`${file}: good (chain ${chain}, ${wallets.length} wallet${wallets.length === 1 ? '' : 's'})`)
      }
    },
  }
}
