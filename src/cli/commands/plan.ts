import type { Command } from 'commander'
import { countBlocks } from '../../core/model/block-ranges.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { type Estimate, estimateRun } from '../../export/estimate.ts'
import { readPastRuns } from '../../export/history/past-runs.ts'
import { inspectJob } from '../../export/inspect-job.ts'
import { nameOfOutput } from '../../storage/bucket-url.ts'
import { counted, grouped, lasting, listedRanges, sized } from '../../terminal/format.ts'
import { say } from '../../terminal/print.ts'
import { addExamples } from '../examples.ts'
import { type FilelessArguments, filelessOptions, readJobsOrOptions } from '../options/inline-job.ts'
import { JOB_FILES, type Overrides, overrideOptions } from '../options/jobs.ts'

export function planCommand(program: Command): void {
  const command = program
    .command('plan')
    .summary('Show what a run would request (dry run)')
    .description('Show what a run would request and its estimated cost; sends no requests and writes nothing')
    .argument('[jobs...]', JOB_FILES)
  overrideOptions(filelessOptions(command)).action(plan)
  addExamples(command, ['plan jobs/mine.yaml', 'Before the first run or an incremental run'])
}

async function plan(files: string[], args: Overrides & FilelessArguments): Promise<void> {
  for (const job of await readJobsOrOptions(files, args)) {
    const state = await inspectJob(job)
    const { wallets, blocks } = state
    const open = wallets.filter(({ remaining }) => remaining.length > 0)
    const left =
      job.kind === 'blocks'
        ? leftOfBlocks(job, blocks)
        : `${counted(open.length, 'wallet')} of ${wallets.length}`
    say(`${job.name}: ${state.state}, ${left} to ask (chain ${job.chain}, output ${nameOfOutput(job)})`)
    const estimate = estimateRun(job, state, await readPastRuns(job.output))
    if (estimate.least > 0) say(estimateLines(estimate, job))
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

const UNKNOWN = 'unknown until the first page'
const NO_FILES = 'unknown until the first export'

/** What a run takes: of the service's quota, of time, of the disk. Lines of at most 80 columns. */
function estimateLines(estimate: Estimate, { concurrency }: Job): string[] {
  const { least, requests, most, perSecond = 0, seconds, bytesEach = 0, bytes } = estimate
  const more =
    requests === undefined ? `; how many more is ${UNKNOWN}` : `, about ${grouped(requests)} in all`
  const quota =
    most === undefined
      ? `at least ${counted(least, 'request')}${more}`
      : `${grouped(least)} to ${counted(most, 'request')}, about ${grouped(requests ?? least)} if the rest is alike`
  const times = most === undefined ? [seconds ?? 0] : [least / perSecond, most / perSecond]
  const spent = times.map((time) => lasting(time * 1000)).join(' to ')
  const speed = `${perSecond.toFixed(1)} requests a second, as last time, up to ${concurrency} at once`
  return [
    `  quota  ${quota}`,
    `  time   ${seconds === undefined ? UNKNOWN : `about ${spent}: ${speed}`}`,
    `  disk   ${bytes === undefined ? NO_FILES : `about ${sized(bytes)}: ${sized(bytesEach)} a transaction`}`,
  ]
}
