import type { CommandModule } from 'yargs'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function validateCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'validate <jobs..>',
    describe: 'check job files and nothing else',
    builder: jobOptions,
    handler: async (args) => {
      for (const { file, wallets, chain } of await readJobs(args)) {
        process.stdout.write(
          `${file}: good (chain ${chain}, ${wallets.length} wallet${wallets.length === 1 ? '' : 's'})\n`,
        )
      }
    },
  }
}
