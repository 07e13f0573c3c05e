import type { Command } from 'commander'
import { countBlocks } from '../core/block-ranges.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { say } from '../report/say.ts'
import { counted, grouped, listedRanges } from '../report/words.ts'
import { inspectJob } from '../run/inspect-job.ts'
import { type FilelessArguments, filelessOptions, readJobsOrOptions } from './fileless.ts'
import { JOB_FILES, type Overrides, overrideOptions } from './jobs.ts'

export function planCommand(program: Command): void {
  const command = program
    .command('plan')
    .summary('print what a run would still request')
    .description('print what a run would still request; writes and asks nothing')
    .argument('[jobs...]', JOB_FILES)
  overrideOptions(filelessOptions(command)).action(plan)
}

async function plan(files: string[], args: Overrides & FilelessArguments): Promise<void> {
  for (const job of await readJobsOrOptions(files, args)) {
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
}

function leftOfBlocks({ startBlock, endBlock = startBlock }: Job, blocks: readonly BlockRange[]): string {
  return `${counted(countBlocks(blocks), 'block')} of ${grouped(endBlock - startBlock)}`
}
