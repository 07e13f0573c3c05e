import type { QueuedRun } from '../../cluster/inspect-queue.ts'
import { countBlocks } from '../../core/model/block-ranges.ts'
import type { Job } from '../../core/model/model.ts'
import { labelsOf } from '../../core/model/wallet-sample.ts'
import { isFolder } from '../../core/platform/entry.ts'
import { largest } from '../../core/platform/extremes.ts'
import type { JobState } from '../../export/inspect-output.ts'
import { inspectJobOutput, inspectOutput, type OutputStatus } from '../../export/inspect-output.ts'
import { isBucketUrl } from '../../storage/bucket-url.ts'
import {
  decimalsLines,
  formatBlockRange,
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  formatMinute,
  formatTimeRange,
  missingBlocksMessage,
  presentLines,
  unknownLines,
} from '../../terminal/format.ts'
import {
  emptyWalletLines,
  gapLines,
  notReachedMessage,
  refusedWalletLines,
  removedWalletLines,
} from '../../terminal/incomplete-lines.ts'
import { print, printJson } from '../../terminal/print.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { defineCommand, hideOptions, type OptionValues, option } from '../command.ts'
import { readQueueAddress } from '../options/credentials.ts'
import { overrideOptions, readJobs } from '../options/jobs.ts'
import { locateOutput } from '../options/output-argument.ts'
import { usageError } from '../usage-error.ts'

const options = [
  ...hideOptions(overrideOptions),
  option('queue <url>', 'Show the runs, workers and request rate of this queue instead'),
  option('json', 'Print one JSON object on stdout'),
]
type Arguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'status',
  summary: 'Show progress',
  description: 'Show the progress of jobs; sends no requests to the service',
  arguments: [
    { name: 'targets', repeatable: true, description: 'Job files, globs or outputs (folders or s3://…)' },
  ],
  options,
  examples: [
    ['status jobs/mine.yaml', 'Progress of a job'],
    ['status output/mine --json', 'Progress of its output, as JSON'],
  ],
  run: async ({ targets, ...args }) => {
    if (args.queue !== undefined) return printQueueStatus(args.queue, args)
    if (targets.length === 0)
      throw usageError(
        'status was given no job file and no output folder',
        'Name one: status jobs/mine.yaml; or a queue: status --queue redis://host:6379.',
      )
    const outputs: string[] = []
    for (const outputArg of targets) if (await isOutput(outputArg)) outputs.push(outputArg)
    const files = targets.filter((outputArg) => !outputs.includes(outputArg))
    const { json, queue, ...overrides } = args
    const [override] = Object.keys(overrides)
    if (outputs.length > 0 && override !== undefined)
      throw usageError(
        `--${override.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is for job files, and ${outputs[0]} is an output`,
        'Leave it out, or name the job file.',
      )
    const statuses: OutputStatus[] = []
    for (const job of files.length === 0 ? [] : await readJobs(files, args)) {
      const { inspected, ...outputStatus } = await inspectJobOutput(job)
      statuses.push(outputStatus)
      if (!args.json) print(statusLines(outputStatus, job, remainingText(job, inspected)))
    }
    for (const outputArg of outputs) {
      const outputStatus = await inspectOutput(await locateOutput(outputArg))
      statuses.push(outputStatus)
      if (!args.json) print(statusLines(outputStatus))
    }
    if (args.json) printJson({ outputs: statuses.map(statusJson) })
  },
})

async function printQueueStatus(url: string, { json }: Arguments): Promise<void> {
  const { inspectQueue } = await import('../../cluster/inspect-queue.ts')
  const queueState = await inspectQueue(await readQueueAddress(url))
  if (json) return printJson(queueState)
  print(formatCount(queueState.workers, 'worker'))
  for (const run of queueState.runs) print(queueLines(run))
}

const isOutput = async (outputArg: string) => isBucketUrl(outputArg) || (await isFolder(outputArg))

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

/** Formats a queued run as lines of text. */
function queueLines({ name, output, tasks, requests, quota }: QueuedRun): string[] {
  const line = (phase: string, { done, remaining, failed }: QueuedRun['tasks']['read']) =>
    `  ${phase}: ${formatInteger(done)} done, ${formatInteger(remaining)} remaining, ${formatInteger(failed)} failed`
  const rate = quota.perSecond === undefined ? 'no limit met' : `${quota.perSecond.toFixed(1)} a second`
  const paused = quota.pausedMs > 0 ? `, paused for ${formatDuration(quota.pausedMs)}` : ''
  return [
    `${name}: in ${output}`,
    line('reading', tasks.read),
    line('partitions', tasks.write),
    `  ${formatCount(requests, 'request')}, rate: ${rate}${paused}`,
  ]
}

/** Formats the status of an output as lines of at most 80 columns. `job` and the remaining work are known for job files. */
function statusLines(status: OutputStatus, job?: Job, remaining = ''): string[] {
  const { output, state, missing, emptyWallets, removedWallets, tables } = status
  const { completeTo, notReached, refusedWallets, incompleteWallets } = status
  const labels = labelsOf(job?.wallets ?? [])
  const since = Date.parse(status.inUseSince ?? '')
  return presentLines(
    status.job === null ? `${output}: ${state}` : `${status.job}: ${state} (${output})`,
    !Number.isNaN(since) && `  a run has been in progress since ${formatMinute(since)}`,
    unfinishedLine(status, job, remaining),
    contentLines(status),
    // Not reported during a run, which may be about to publish the files.
    status.filesInPlace === false &&
      status.inUseSince === null &&
      '  files are missing or have another size: `walletlake verify` names them',
    icebergLines(status),
    lastRunLines(status),
    // Only a ledger is what `reconcile` compares.
    tables.ledger && storedReconciliationLines(status.reconciliation).map((line) => `  ${line}`),
    missing.length > 0 && `  ${missingBlocksMessage(missing)}`,
    notReached !== null && completeTo !== null && `  not final: ${notReachedMessage(notReached, completeTo)}`,
    refusedWalletLines(refusedWallets, labels),
    gapLines(incompleteWallets),
    emptyWalletLines(emptyWallets, labels),
    removedWalletLines(removedWallets, labels),
  )
}

function unfinishedLine({ unfinished }: OutputStatus, job: Job | undefined, remaining: string) {
  if (unfinished === null) return undefined
  const pages = formatCount(unfinished.pages, job?.kind === 'blocks' ? 'block' : 'page')
  const retained = `${pages} with ${formatCount(unfinished.transactions, 'transaction')} kept`
  return `  ${retained}${job === undefined ? '' : `; ${remaining}`}`
}

function contentLines(status: OutputStatus): string[] {
  const { blocks, rows, files, bytes, tables, rejects } = status
  if (blocks === null) return []
  return presentLines(
    `  ${blocks.from < blocks.to ? formatBlockRange(blocks) : 'no blocks'}${timeRangeText(status)}`,
    `  ${formatCount(rows, 'row')} in ${formatCount(files, 'file')}, ${formatBytes(bytes)}`,
    Object.entries(tables).map(
      ([name, table]) =>
        `  ${formatInteger(table.rows).padStart(12)}  ${name} (${formatCount(table.files, 'file')})`,
    ),
    rejects > 0 && `  ${formatCount(rejects, 'record')} rejected, listed in rejects.ndjson`,
    [...unknownLines(status), ...decimalsLines(status)].map((line) => `  ${line}`),
  )
}

function icebergLines({ iceberg }: OutputStatus): string[] {
  if (iceberg === null) return []
  const { tables, error } = iceberg
  if (error !== null) return [`  Iceberg tables: ${error}`]
  const behind = tables.filter(({ isCurrent }) => !isCurrent).map(({ table }) => table)
  const times = tables
    .map(({ committedAt }) => Date.parse(committedAt ?? ''))
    .filter((at) => !Number.isNaN(at))
  const snapshots = formatCount(
    largest(
      tables.map((table) => table.snapshots),
      0,
    ),
    'snapshot',
  )
  return presentLines(
    times.length > 0 &&
      `  Iceberg tables: last commit ${formatMinute(largest(times))}, up to ${snapshots} each`,
    behind.length > 0 && `  not committed to Iceberg: ${behind.join(', ')}; run the job again`,
  )
}

function timeRangeText({ firstTransactionAt: first, lastTransactionAt: last }: OutputStatus): string {
  if (first !== null && last !== null) return `, ${formatTimeRange(Date.parse(first), Date.parse(last))}`
  if (last !== null) return `, up to ${formatMinute(Date.parse(last))}`
  return first === null ? '' : `, from ${formatMinute(Date.parse(first))} on`
}

function lastRunLines({ lastRun, state: outputState }: OutputStatus): string[] {
  if (lastRun === null) return []
  const { state, error, startedAt, seconds, requests } = lastRun
  const ended = error == null ? state : `${state} (${error.code})`
  const usage = `${formatCount(requests, 'request')} in ${formatDuration(seconds * 1000)}`
  return presentLines(
    outputState === 'not begun' && '  no page is stored yet',
    `  last run ${formatMinute(Date.parse(startedAt))}: ${ended}, ${usage}`,
  )
}
