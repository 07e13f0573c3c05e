import type { Job } from '../core/model/model.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import type { OutputStatus } from '../export/inspect-output.ts'
import {
  blocksBetween,
  counted,
  grouped,
  lasting,
  minuteOf,
  minutesBetween,
  missingWords,
  sized,
  unknownLines,
} from '../terminal/format.ts'
import { notReachedWords, refusedWalletLines } from '../terminal/incomplete-lines.ts'
import { emptyWalletLines, removedWalletLines } from '../terminal/wallet-lines.ts'

/** The job of an output, where it is known, and what is left of it in words. */
type Known = { job: Job; left: string }

/** What an output holds, for people. Lines of at most 80 columns. */
export function statusLines(status: OutputStatus, known?: Known): string[] {
  const { job, output, state, missing, emptyWallets, removedWallets } = status
  const { blocks, notReached, refusedWallets } = status
  const labels = labelsOf(known?.job.wallets ?? [])
  return [
    job === null ? `${output}: ${state}` : `${job}: ${state} (${output})`,
    ...inUseLine(status),
    ...unfinishedLine(status, known),
    ...contentLines(status),
    ...filesLine(status),
    ...lastRunLine(status),
    ...(missing.length > 0 ? [`  ${missingWords(missing)}`] : []),
    ...(notReached === null || blocks === null
      ? []
      : [`  not final: ${notReachedWords(notReached, blocks.to)}`]),
    ...refusedWalletLines(refusedWallets, labels),
    ...emptyWalletLines(emptyWallets, labels),
    ...removedWalletLines(removedWallets, labels),
  ]
}

function inUseLine({ inUseSince }: OutputStatus): string[] {
  const since = Date.parse(inUseSince ?? '')
  return Number.isNaN(since) ? [] : [`  a run is in progress since ${minuteOf(since)}`]
}

function unfinishedLine({ unfinished }: OutputStatus, known: Known | undefined): string[] {
  if (unfinished === null) return []
  const pages = counted(unfinished.pages, known?.job.kind === 'blocks' ? 'block' : 'page')
  const kept = `${pages} with ${counted(unfinished.transactions, 'transaction')} kept`
  return [`  ${kept}${known === undefined ? '' : `; ${known.left}`}`]
}

function contentLines(status: OutputStatus): string[] {
  const { blocks, rows, files, bytes, tables, rejects } = status
  if (blocks === null) return []
  return [
    `  ${blocks.from < blocks.to ? blocksBetween(blocks) : 'no blocks'}${timeWords(status)}`,
    `  ${counted(rows, 'row')} in ${counted(files, 'file')}, ${sized(bytes)}`,
    ...Object.entries(tables).map(
      ([name, table]) => `  ${grouped(table.rows).padStart(12)}  ${name} (${counted(table.files, 'file')})`,
    ),
    ...(rejects > 0 ? [`  ${counted(rejects, 'record')} set aside in rejects.ndjson`] : []),
    ...unknownLines(status).map((line) => `  ${line}`),
  ]
}

/** A run that is in progress may be putting them there. */
function filesLine({ filesInPlace, inUseSince }: OutputStatus): string[] {
  const isDamaged = filesInPlace === false && inUseSince === null
  return isDamaged ? ['  files are missing or have another size: `walletlake verify` names them'] : []
}

function timeWords({ firstTransactionAt: first, lastTransactionAt: last }: OutputStatus): string {
  if (first !== null && last !== null) return `, ${minutesBetween(Date.parse(first), Date.parse(last))}`
  if (last !== null) return `, up to ${minuteOf(Date.parse(last))}`
  return first === null ? '' : `, from ${minuteOf(Date.parse(first))} on`
}

function lastRunLine({ lastRun }: OutputStatus): string[] {
  if (lastRun === null) return []
  const { state, error, startedAt, seconds, requests } = lastRun
  const ended = error == null ? state : `${state} (${error.code})`
  const spent = `${counted(requests, 'request')} in ${lasting(seconds * 1000)}`
  return [`  last run ${minuteOf(Date.parse(startedAt))}: ${ended}, ${spent}`]
}
