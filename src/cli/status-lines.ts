import type { Job } from '../core/model/model.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import type { OutputStatus } from '../export/inspect-output.ts'
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
  unknownLines,
} from '../terminal/format.ts'
import { gapLines, notReachedMessage, refusedWalletLines } from '../terminal/incomplete-lines.ts'
import { storedReconciliationLines } from '../terminal/reconciliation-lines.ts'
import { emptyWalletLines, removedWalletLines } from '../terminal/wallet-lines.ts'

/** The job of an output, and a description of the remaining work. */
type KnownJob = { job: Job; remaining: string }

/** Formats the status of an output as lines of at most 80 columns. */
export function statusLines(status: OutputStatus, knownJob?: KnownJob): string[] {
  const { job, output, state, missing, emptyWallets, removedWallets } = status
  const { completeTo, notReached, refusedWallets, incompleteWallets } = status
  const labels = labelsOf(knownJob?.job.wallets ?? [])
  return [
    job === null ? `${output}: ${state}` : `${job}: ${state} (${output})`,
    ...inUseLine(status),
    ...unfinishedLine(status, knownJob),
    ...contentLines(status),
    ...filesLine(status),
    ...lastRunLine(status),
    ...reconciliationLines(status),
    ...(missing.length > 0 ? [`  ${missingBlocksMessage(missing)}`] : []),
    ...(notReached === null || completeTo === null
      ? []
      : [`  not final: ${notReachedMessage(notReached, completeTo)}`]),
    ...refusedWalletLines(refusedWallets, labels),
    ...gapLines(incompleteWallets),
    ...emptyWalletLines(emptyWallets, labels),
    ...removedWalletLines(removedWallets, labels),
  ]
}

function inUseLine({ inUseSince }: OutputStatus): string[] {
  const since = Date.parse(inUseSince ?? '')
  return Number.isNaN(since) ? [] : [`  a run has been in progress since ${formatMinute(since)}`]
}

function unfinishedLine({ unfinished }: OutputStatus, knownJob: KnownJob | undefined): string[] {
  if (unfinished === null) return []
  const pages = formatCount(unfinished.pages, knownJob?.job.kind === 'blocks' ? 'block' : 'page')
  const retained = `${pages} with ${formatCount(unfinished.transactions, 'transaction')} kept`
  return [`  ${retained}${knownJob === undefined ? '' : `; ${knownJob.remaining}`}`]
}

function contentLines(status: OutputStatus): string[] {
  const { blocks, rows, files, bytes, tables, rejects } = status
  if (blocks === null) return []
  return [
    `  ${blocks.from < blocks.to ? formatBlockRange(blocks) : 'no blocks'}${timeRangeText(status)}`,
    `  ${formatCount(rows, 'row')} in ${formatCount(files, 'file')}, ${formatBytes(bytes)}`,
    ...Object.entries(tables).map(
      ([name, table]) =>
        `  ${formatInteger(table.rows).padStart(12)}  ${name} (${formatCount(table.files, 'file')})`,
    ),
    ...(rejects > 0 ? [`  ${formatCount(rejects, 'record')} rejected, listed in rejects.ndjson`] : []),
    ...[...unknownLines(status), ...decimalsLines(status)].map((line) => `  ${line}`),
  ]
}

/** Not reported during a run, which may be about to publish the files. */
function filesLine({ filesInPlace, inUseSince }: OutputStatus): string[] {
  const isDamaged = filesInPlace === false && inUseSince === null
  return isDamaged ? ['  files are missing or have another size: `walletlake verify` names them'] : []
}

function timeRangeText({ firstTransactionAt: first, lastTransactionAt: last }: OutputStatus): string {
  if (first !== null && last !== null) return `, ${formatTimeRange(Date.parse(first), Date.parse(last))}`
  if (last !== null) return `, up to ${formatMinute(Date.parse(last))}`
  return first === null ? '' : `, from ${formatMinute(Date.parse(first))} on`
}

/** Only for an export with a ledger, which is what `reconcile` compares. */
function reconciliationLines({ reconciliation, tables }: OutputStatus): string[] {
  if (tables.ledger === undefined) return []
  return storedReconciliationLines(reconciliation).map((line) => `  ${line}`)
}

function lastRunLine({ lastRun, state: outputState }: OutputStatus): string[] {
  if (lastRun === null) return []
  const { state, error, startedAt, seconds, requests } = lastRun
  const ended = error == null ? state : `${state} (${error.code})`
  const usage = `${formatCount(requests, 'request')} in ${formatDuration(seconds * 1000)}`
  return [
    ...(outputState === 'not begun' ? ['  no page is stored yet'] : []),
    `  last run ${formatMinute(Date.parse(startedAt))}: ${ended}, ${usage}`,
  ]
}
