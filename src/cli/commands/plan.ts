import { countBlocks } from '../../core/model/block-ranges.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { type Estimate, estimateRun, MAX_DENSITY_RATIO } from '../../export/estimate.ts'
import { readPastRuns } from '../../export/history/past-runs.ts'
import { inspectJob } from '../../export/inspect-job.ts'
import { outputName } from '../../storage/bucket-url.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  formatRanges,
} from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand } from '../command.ts'
import { type InlineJobArguments, inlineJobOptions, readJobsOrInlineJob } from '../options/inline-job.ts'
import { JOB_FILES, type Overrides, overrideOptions } from '../options/jobs.ts'

export const command = defineCommand({
  name: 'plan',
  summary: 'Show what a run would request (dry run)',
  description: 'Show what a run would request and its estimated cost; sends no requests and writes nothing',
  arguments: [{ name: 'jobs', repeatable: true, description: JOB_FILES }],
  options: [...inlineJobOptions, ...overrideOptions],
  examples: [['plan jobs/mine.yaml', 'Before the first run or an incremental run']],
  run: ({ jobs, ...args }) => plan(jobs, args),
})

async function plan(files: string[], args: Overrides & InlineJobArguments): Promise<void> {
  for (const job of await readJobsOrInlineJob(files, args)) {
    const state = await inspectJob(job)
    const { wallets, blocks } = state
    const unfinished = wallets.filter(({ remaining }) => remaining.length > 0)
    const remainingText =
      job.kind === 'blocks'
        ? remainingBlocks(job, blocks)
        : `${formatCount(unfinished.length, 'wallet')} of ${wallets.length}`
    print(
      `${job.name}: ${state.state}, ${remainingText} to read (chain ${job.chain}, output ${outputName(job)})`,
    )
    const estimate = estimateRun(job, state, await readPastRuns(job.output))
    if (estimate.minRequests > 0) print(estimateLines(estimate, job))
    if (blocks.length > 0) print(`  blocks ${formatRanges(blocks)}`)
    for (const { address, label, remaining } of unfinished) {
      const ranges = remaining.map(({ from, to }) => `[${from}, ${to ?? 'head'})`).join(' ')
      print(`  ${address}  blocks ${ranges}${label === null ? '' : `  ${label}`}`)
    }
  }
}

function remainingBlocks({ startBlock, endBlock = startBlock }: Job, blocks: readonly BlockRange[]): string {
  return `${formatCount(countBlocks(blocks), 'block')} of ${formatInteger(endBlock - startBlock)}`
}

const UNKNOWN_UNTIL_PAGE = 'unknown until the first page'
const UNKNOWN_UNTIL_EXPORT = 'unknown until the first export'

/** Formats the estimated requests, time and disk space of a run as lines of at most 80 columns. */
function estimateLines(estimate: Estimate, { concurrency }: Job): string[] {
  const {
    minRequests,
    requests,
    maxRequests,
    perSecond = 0,
    seconds,
    bytesPerTransaction = 0,
    bytes,
  } = estimate
  const more =
    requests === undefined
      ? `; how many more is ${UNKNOWN_UNTIL_PAGE}`
      : `, about ${formatInteger(requests)} in all`
  const quota =
    maxRequests === undefined
      ? `at least ${formatCount(minRequests, 'request')}${more}`
      : `about ${formatCount(requests ?? minRequests, 'request')}, ${formatInteger(minRequests)} to ${formatInteger(maxRequests)} if the rest is up to ${MAX_DENSITY_RATIO} times as dense`
  const times =
    maxRequests === undefined ? [seconds ?? 0] : [minRequests / perSecond, maxRequests / perSecond]
  const durationRange = times.map((time) => formatDuration(time * 1000)).join(' to ')
  const speed = `${perSecond.toFixed(1)} requests/s as in the last run, up to ${concurrency} at once`
  return [
    `  quota  ${quota}`,
    `  time   ${seconds === undefined ? UNKNOWN_UNTIL_PAGE : `about ${durationRange}: ${speed}`}`,
    `  disk   ${bytes === undefined ? UNKNOWN_UNTIL_EXPORT : `about ${formatBytes(bytes)}: ${formatBytes(bytesPerTransaction)} a transaction`}`,
  ]
}
