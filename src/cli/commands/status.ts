import { stat } from 'node:fs/promises'
import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import type { JobState } from '../../export/inspect-job.ts'
import { inspectJobOutput, inspectOutput, type OutputStatus } from '../../export/inspect-output.ts'
import { isBucketUrl } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { defineCommand, defineOptions, hideOptions, type OptionValues } from '../command.ts'
import { overrideOptions, readJobs } from '../options/jobs.ts'
import { locateOutput } from '../options/output-argument.ts'
import { readQueueAddress } from '../options/queue-address.ts'
import { queueLines } from '../queue-lines.ts'
import { statusLines } from '../status-lines.ts'

const options = defineOptions([
  ...hideOptions(overrideOptions),
  {
    name: 'queue',
    value: '<url>',
    description: 'Show the runs, workers and request rate of this queue instead',
  },
  { name: 'json', description: 'Print one JSON object on stdout' },
])
type Arguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'status',
  summary: 'Show progress',
  description: 'Show the progress of jobs; sends no requests',
  arguments: [
    { name: 'targets', repeatable: true, description: 'Job files, globs or outputs (folders or s3://…)' },
  ],
  options,
  examples: [
    ['status jobs/mine.yaml', 'Progress of a job'],
    ['status output/mine --json', 'Progress of its output, as JSON'],
  ],
  run: ({ targets, ...args }) => status(targets, args),
})

async function status(targets: string[], args: Arguments): Promise<void> {
  if (args.queue !== undefined) return printQueueStatus(args.queue, args)
  if (targets.length === 0)
    throw new ExportError('USAGE', 'status was given no job file and no output folder', {
      fix: 'Name one: status jobs/mine.yaml; or a queue: status --queue redis://host:6379.',
    })
  const outputs: string[] = []
  for (const outputArg of targets) if (await isOutput(outputArg)) outputs.push(outputArg)
  const files = targets.filter((outputArg) => !outputs.includes(outputArg))
  const statuses: OutputStatus[] = []
  for (const job of files.length === 0 ? [] : await readJobs(files, args)) {
    const { inspected, ...outputStatus } = await inspectJobOutput(job)
    statuses.push(outputStatus)
    if (!args.json) print(statusLines(outputStatus, { job, remaining: remainingText(job, inspected) }))
  }
  for (const outputArg of outputs) {
    const outputStatus = await inspectOutput(await locateOutput(outputArg))
    statuses.push(outputStatus)
    if (!args.json) print(statusLines(outputStatus))
  }
  if (args.json) printJson({ outputs: statuses.map(statusJson) })
}

async function printQueueStatus(url: string, { json }: Arguments): Promise<void> {
  const { inspectQueue } = await import('../../cluster/inspect-queue.ts')
  const queueState = await inspectQueue(await readQueueAddress(url))
  if (json) return printJson(queueState)
  print(formatCount(queueState.workers, 'worker'))
  for (const run of queueState.runs) print(queueLines(run))
}

const isOutput = async (outputArg: string) =>
  isBucketUrl(outputArg) || ((await stat(outputArg).catch(() => undefined))?.isDirectory() ?? false)

function remainingText({ kind }: Job, { wallets, blocks }: JobState): string {
  if (kind === 'blocks') return `${formatCount(countBlocks(blocks), 'block')} left to read`
  const count = wallets.filter(({ remaining }) => remaining.length > 0).length
  return `${count} of ${formatCount(wallets.length, 'wallet')} left to read`
}

/** Public JSON format: fields may be added, but not removed or renamed. */
function statusJson({ blocks, missing, lastRun, ...status }: OutputStatus): object {
  const { run, state, error, startedAt, seconds, requests } = lastRun ?? {}
  return {
    ...status,
    fromBlock: blocks?.from ?? null,
    toBlock: blocks?.to ?? null,
    missingBlocks: countBlocks(missing),
    lastRun: lastRun && { run, state, code: error?.code ?? null, startedAt, seconds, requests },
  }
}
