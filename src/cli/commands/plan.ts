import { countBlocks } from '../../core/model/block-ranges.ts'
import type { BlockRange, Job } from '../../core/model/model.ts'
import { requireFeatures } from '../../export/check-job.ts'
import { estimateRun } from '../../export/estimate.ts'
import { readPastRuns } from '../../export/history/past-runs.ts'
import { inspectJob } from '../../export/inspect-output.ts'
import { lookbackOf } from '../../export/run.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { formatCount, formatInteger, formatRanges } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import {
  inlineJobOptions,
  JOB_GROUPS,
  jobsArgument,
  overrideOptions,
  readJobsOrInlineJob,
} from '../options/jobs.ts'
import { lookbackOption } from '../options/parsers.ts'
import { estimateLines, reconcileLine } from '../plan-lines.ts'
import { requireReconcilable } from '../reconcile-jobs.ts'

export const command = defineCommand({
  name: 'plan',
  summary: 'Show what a run would request (dry run)',
  description: 'Show what a run would request and its estimated cost; sends no requests and writes nothing',
  arguments: [jobsArgument],
  options: [
    ...inlineJobOptions,
    ...overrideOptions,
    option('fresh', 'Estimate a run that discards the existing export and starts over'),
    lookbackOption,
    option('reconcile', 'Also estimate the requests of run --reconcile'),
  ],
  groups: JOB_GROUPS,
  examples: [['plan jobs/mine.yaml', 'Before the first run or an incremental run']],
  run: async ({ jobs: files, ...args }) => {
    const jobs = await readJobsOrInlineJob(files, args)
    if (args.reconcile) requireReconcilable(jobs)
    const lookback = args.lookback && lookbackOf(args.lookback)
    for (const job of jobs) {
      requireFeatures(job)
      const state = await inspectJob(job, { fresh: args.fresh, lookback })
      const { wallets, blocks } = state
      const unfinished = wallets.filter(({ remaining }) => remaining.length > 0)
      const remainingText =
        job.kind === 'blocks'
          ? remainingBlocks(job, blocks)
          : `${formatCount(unfinished.length, 'wallet')} of ${wallets.length}`
      print(
        `${job.name}: ${args.fresh ? 'starts over' : state.state}, ${remainingText} to read (chain ${job.chain}, output ${outputName(job)})`,
      )
      // Earlier runs tell nothing about the transactions of a lookback of another size.
      const runs = lookback === undefined ? await readPastRuns(job.output) : []
      const estimate = estimateRun(job, state, runs)
      if (estimate.minRequests + (estimate.atomicRequests ?? 0) > 0)
        print(estimateLines(estimate, job, state.manifest))
      if (args.reconcile) print(await reconcileLine(job, state.manifest !== undefined))
      if (blocks.length > 0) print(`  blocks ${formatRanges(blocks)}`)
      for (const { address, label, remaining } of unfinished) {
        const ranges = remaining.map(({ from, to }) => `[${from}, ${to ?? 'head'})`).join(' ')
        print(`  ${address}  blocks ${ranges}${label === null ? '' : `  ${label}`}`)
      }
    }
  },
})

function remainingBlocks({ startBlock, endBlock = startBlock }: Job, blocks: readonly BlockRange[]): string {
  return `${formatCount(countBlocks(blocks), 'block')} of ${formatInteger(endBlock - startBlock)}`
}
