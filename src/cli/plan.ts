import type { CommandModule } from 'yargs'
import { inspectJob } from '../inspect-job.ts'
import { say } from '../report/say.ts'
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
        say(`${words} (chain ${job.chain}, output ${job.output})`)
        for (const { address, label, remaining } of open) {
          const ranges = remaining.map(({ from, to }) => `[${from}, ${to ?? 'head'})`).join(' ')
          say(`  ${address}  blocks ${ranges}${label === null ? '' : `  ${label}`}`)
        }
      }
    },
  }
}
