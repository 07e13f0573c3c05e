import type { CommandModule } from 'yargs'
import { inspectJob } from '../inspect-job.ts'
import { say } from '../report/say.ts'
import { counted, grouped } from '../report/words.ts'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function statusCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'status <jobs..>',
    describe: 'say what is done and what is left',
    builder: jobOptions,
    handler: async (args) => {
      for (const job of await readJobs(args)) {
        const { state, wallets, pages, items, manifest } = await inspectJob(job)
        const left = wallets.filter(({ remaining }) => remaining.length > 0).length
        say(`${job.name}: ${state} (${job.output})`)
        if (state === 'unfinished') {
          const kept = `${counted(pages, 'page')} with ${counted(items, 'transaction')} kept`
          say(`  ${kept}; ${left} of ${counted(wallets.length, 'wallet')} left to ask`)
        }
        for (const [table, { rows, files }] of Object.entries(manifest?.tables ?? {})) {
          say(`  ${grouped(rows).padStart(12)}  ${table} (${counted(files.length, 'file')})`)
        }
      }
    },
  }
}
