import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import type { JobState } from '../../export/inspect-job.ts'
import { inspectJobOutput, inspectOutput, type OutputStatus } from '../../export/inspect-output.ts'
import { isPlace } from '../../storage/bucket-url.ts'
import { counted } from '../../terminal/format.ts'
import { say, sayJson } from '../../terminal/print.ts'
import { addExamples } from '../examples.ts'
import { hideOptions, type Overrides, overrideOptions, readJobs } from '../options/jobs.ts'
import { placeOf } from '../options/output-argument.ts'
import { readQueueAddress } from '../options/queue-address.ts'
import { queueLines } from '../queue-lines.ts'
import { statusLines } from '../status-lines.ts'

export function statusCommand(program: Command): void {
  const command = program
    .command('status')
    .summary('Show progress')
    .description('Show the progress of jobs; sends no requests')
    .argument('[targets...]', 'Job files, globs or outputs (folders or s3://…)')
  hideOptions(overrideOptions(command))
    .option('--queue <url>', 'Show the runs, workers and request rate of this queue instead')
    .option('--json', 'Print one JSON object on stdout')
  addExamples(
    command,
    ['status jobs/mine.yaml', 'Progress of a job'],
    ['status output/mine --json', 'Progress of its output, as JSON'],
  )
  command.action(status)
}

type Arguments = Overrides & { queue?: string; json?: boolean }

async function status(words: string[], args: Arguments): Promise<void> {
  if (args.queue !== undefined) return queueStatus(args.queue, args)
  if (words.length === 0)
    throw new ExportError('USAGE', 'status was given no job file and no output folder', {
      fix: 'Name one: status jobs/mine.yaml; or a queue: status --queue redis://host:6379.',
    })
  const outputs: string[] = []
  for (const word of words) if (await isOutput(word)) outputs.push(word)
  const files = words.filter((word) => !outputs.includes(word))
  const statuses: OutputStatus[] = []
  for (const job of files.length === 0 ? [] : await readJobs(files, args)) {
    const { inspected, ...one } = await inspectJobOutput(job)
    statuses.push(one)
    if (!args.json) say(statusLines(one, { job, left: leftOf(job, inspected) }))
  }
  for (const word of outputs) {
    const one = await inspectOutput(await placeOf(word))
    statuses.push(one)
    if (!args.json) say(statusLines(one))
  }
  if (args.json) sayJson({ outputs: statuses.map(asJson) })
}

async function queueStatus(url: string, { json }: Arguments): Promise<void> {
  const { inspectQueue } = await import('../../cluster/inspect-queue.ts')
  const found = await inspectQueue(await readQueueAddress(url))
  if (json) return sayJson(found)
  say(counted(found.workers, 'worker'))
  for (const run of found.runs) say(queueLines(run))
}

const isOutput = async (word: string) =>
  isPlace(word) || ((await stat(word).catch(() => undefined))?.isDirectory() ?? false)

function leftOf({ kind }: Job, { wallets, blocks }: JobState): string {
  if (kind === 'blocks') return `${counted(countBlocks(blocks), 'block')} left to ask`
  const left = wallets.filter(({ remaining }) => remaining.length > 0).length
  return `${left} of ${counted(wallets.length, 'wallet')} left to ask`
}

/** Its fields only ever grow. */
function asJson({ blocks, missing, lastRun, ...status }: OutputStatus): object {
  const { run, state, error, startedAt, seconds, requests } = lastRun ?? {}
  return {
    ...status,
    fromBlock: blocks?.from ?? null,
    toBlock: blocks?.to ?? null,
    missingBlocks: countBlocks(missing),
    lastRun: lastRun && { run, state, code: error?.code ?? null, startedAt, seconds, requests },
  }
}
