import type { CommandModule } from 'yargs'
import { inspectJob } from '../inspect-job.ts'
import { counted } from '../report/words.ts'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function planCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'plan <jobs..>',
    describe: 'print what a run would still request; writes and asks nothing',
    builder: jobOptions,
    handler: async (args) => {
      for (const job of await readJobs(args)) {
        const { state, wallets } = await inspectJob(job)
        const open = wallets.filter(({ remaining }) => remaining.length > 0)
        const words = `${job.name}: ${state}, ${counted(open.length, 'wallet')} of ${wallets.length} to ask`
        process.stdout.write(`${words} (chain ${job.chain}, output ${job.output})\n`)
        for (const { address, label, remaining } of open) {
          const ranges = remaining.map(({ from, to }) => `[${from}, ${to ?? 'head'})`).join(' ')
          process.stdout.write(`  ${address}  blocks ${ranges}${label === null ? '' : `  ${label}`}\n`)
        }
      }
    },
  }
}
