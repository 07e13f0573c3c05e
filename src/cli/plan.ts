import type { CommandModule } from 'yargs'
import { countBlocks } from '../core/block-ranges.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { say } from '../report/say.ts'
import { counted, grouped, listedRanges } from '../report/words.ts'
import { inspectJob } from '../run/inspect-job.ts'
import { type JobArguments, jobOptions, readJobs } from './jobs.ts'

export function planCommand(): CommandModule<object, JobArguments> {
  return {
    command: 'plan <jobs..>',
    describe: 'print what a run would still request; writes and asks nothing',
    builder: jobOptions,
    handler: async (args) => {
      for (const job of await readJobs(args)) {
        const { state, wallets, blocks } = await inspectJob(job)
        const open = wallets.filter(({ remaining }) => remaining.length > 0)
        const left =
          job.kind === 'blocks'
            ? leftOfBlocks(job, blocks)
            : `${counted(open.length, 'wallet')} of ${wallets.length}`
        say(`${job.name}: ${state}, ${left} to ask (chain ${job.chain}, output ${job.output})`)
        if (blocks.length > 0) say(`  blocks ${listedRanges(blocks)}`)
        for (const { address, label, remaining } of open) {
          const ranges = remaining.map(({ from, to }) => `[${from}, ${to ?? 'head'})`).join(' ')
          say(`  ${address}  blocks ${ranges}${label === null ? '' : `  ${label}`}`)
        }
      }
    },
  }
}

function leftOfBlocks({ startBlock, endBlock = startBlock }: Job, blocks: readonly BlockRange[]): string {
  return `${counted(countBlocks(blocks), 'block')} of ${grouped(endBlock - startBlock)}`
}
