import { countBlocks } from '../core/model/block-ranges.ts'
import type { Job } from '../core/model/model.ts'
import type { EndedJob } from '../core/model/run-outcome.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { smallest } from '../core/platform/extremes.ts'
import { FORMATS } from '../formats/index.ts'
import { outputName } from '../storage/bucket-url.ts'
import {
  formatBlockRange,
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  formatRanges,
  formatTimeRange,
  missingBlocksMessage,
  presentLines,
  unknownLines,
} from './format.ts'
import {
  answersDifferMessage,
  emptyWalletLines,
  excludedLines,
  gapLines,
  notReachedLines,
  refusedWalletLines,
} from './incomplete-lines.ts'
import { oneLine } from './log.ts'
import { shellQuote } from './shell-quote.ts'

export type SummaryContext = {
  /** Current time in milliseconds since 1970. */
  now: number
  /** Command with which the user started this program, for the next steps; undefined to omit these. */
  programName: string | undefined
}

/**
 * Summary of a run for people: what was written, where, and what to do next. Lines have at most 80 columns.
 */
export function summaryText(outcomes: readonly EndedJob[], { now, programName }: SummaryContext): string {
  const lines = outcomes.flatMap((outcome) => [...jobLines(outcome, now), ''])
  const completed = outcomes.find(({ error }) => error === undefined)
  const steps =
    completed === undefined || programName === undefined ? [] : nextSteps(completed.job, programName)
  return [...lines, ...steps].map(oneLine).join('\n').trimEnd()
}

function jobLines({ job, state, error, stats }: EndedJob, now: number): string[] {
  if (error !== undefined) return [`${job.name}: not finished (${error.code})`, ...partialLines(stats)]
  if (state === 'unchanged') return unchangedLines(job, stats)
  const usage = `${formatCount(stats.requests, 'request')}, ${formatBytes(stats.bytes)}`
  const readText = `${readMessage(job, stats)}, ${formatCount(stats.transactions, 'transaction')}`
  return [
    `${job.name}: ${stateText(state, stats)} in ${formatDuration((stats.endedMs ?? now) - stats.startedMs)}`,
    `  ${readText} (${usage})`,
    ...unitsLine(stats),
    ...retryLine(stats),
    ...pageSizeLine(stats),
    ...writtenLine(stats),
    ...lastBlockLine(job, stats),
    ...job.tables.map((table) => `  ${formatInteger(stats.rows[table] ?? 0).padStart(12)}  ${table}`),
    `  ${formatCount(stats.files, `${FORMATS[job.format].title} file`)} in ${outputName(job)}`,
    ...(stats.rejects > 0
      ? [`  ${formatCount(stats.rejects, 'record')} rejected, listed in ${outputName(job)}/rejects.ndjson`]
      : []),
    ...unknownLines(stats).map((line) => `  ${line}`),
    ...contradictionLines(stats),
    ...changeLines(stats, job),
    ...incompleteLines(job, stats),
    ...(stats.missing.length > 0 ? [`  ${missingBlocksMessage(stats.missing)}`] : []),
    ...emptyWalletsOf(stats, job),
  ]
}

function stateText(state: EndedJob['state'], { rejects }: RunStats): string {
  return state === 'complete' && rejects > 0
    ? `complete except for ${formatCount(rejects, 'rejected record')}`
    : state
}

/** What is missing in the export although the run did not fail. */
function incompleteLines(job: Job, stats: RunStats): string[] {
  return [
    ...notReachedLines(job, stats),
    ...(stats.answersDiffer > 0 ? [`  ${answersDifferMessage(stats)}`] : []),
    ...excludedLines(stats, job),
    ...refusedWalletLines(stats.refused, labelsOf(job.wallets)),
    ...gapLines(stats.incomplete),
  ]
}

/**
 * Wallets without transactions. Omitted if transactions were left out, because these may belong to such
 * wallets.
 */
function emptyWalletsOf({ emptyWallets, leftOut }: RunStats, job: Job): string[] {
  if (leftOut !== undefined) return []
  return emptyWalletLines(emptyWallets, labelsOf(job.wallets))
}

/** The blocks that the run wrote, and the times of their transactions. */
function writtenLine({ written }: RunStats): string[] {
  if (written === undefined || written.from >= written.to) return []
  const { times } = written
  const timeRange = times === undefined ? '' : `, ${formatTimeRange(times.first, times.last)}`
  return [`  ${formatBlockRange(written)}${timeRange}`]
}

/** The last block up to which all wallets were read, for jobs without `endBlock`. */
function lastBlockLine({ kind, startBlock, endBlock }: Job, { endBlock: end }: RunStats): string[] {
  if (kind === 'blocks' || endBlock !== undefined || end === undefined) return []
  if (end <= startBlock) return [noTransactionsLine(startBlock)]
  return [`  each wallet was read to block ${end - 1}; the next run reads the last blocks again`]
}

/** Used if no wallet of the job has a transaction yet, so that there is no block to name. */
function noTransactionsLine(startBlock: number): string {
  const fromBlock = startBlock === 0 ? '' : ` from block ${startBlock} on`
  return `  no transactions yet${fromBlock}; the next run checks again`
}

/**
 * Summary of a run that wrote nothing. A complete job with `endBlock` sends no requests; a job without it
 * always does.
 */
function unchangedLines(job: Job, stats: RunStats): string[] {
  const { name, startBlock } = job
  const output = outputName(job)
  const { requests, endBlock = 0 } = stats
  const notes = [
    ...unknownLines(stats).map((line) => `  ${line}`),
    ...incompleteLines(job, stats),
    ...emptyWalletsOf(stats, job),
  ]
  if (requests === 0)
    return [
      `${name}: already complete in ${output}`,
      '  no requests were needed; --fresh exports it again',
      ...notes,
    ]
  return [
    `${name}: nothing new (${formatCount(requests, 'request')})`,
    endBlock <= startBlock
      ? noTransactionsLine(startBlock)
      : `  ${output} is complete up to block ${endBlock - 1} for each wallet`,
    ...unitsLine(stats),
    ...notes,
  ]
}

/** Data that the service returned inconsistently. */
function contradictionLines({ contradicted: { found, unresolved }, repeatedLogs }: RunStats): string[] {
  const outcome = unresolved === 0 ? 'and now agree' : `and ${formatInteger(unresolved)} still differ`
  return presentLines(
    found > 0 && `  ${formatCount(found, 'transaction')} differed between wallets: read again, ${outcome}`,
    repeatedLogs > 0 && `  ${formatCount(repeatedLogs, 'log')} listed as two kinds of token: exported as one`,
  )
}

/** Changes in previously exported blocks. */
function changeLines({ changes }: RunStats, job: Job): string[] {
  if (changes === undefined) return []
  const { tables } = job
  const { range, removed, added, file } = changes
  const formatChange = (removedRows = 0, addedRows = 0) =>
    `${formatCount(removedRows, 'row')} removed, ${formatInteger(addedRows)} added`
  const [removedRows, addedRows] = [removed, added].map((counts) =>
    Object.values(counts).reduce((sum, n) => sum + n, 0),
  )
  const changed = tables.filter((table) => (removed[table] ?? 0) + (added[table] ?? 0) > 0)
  return [
    `  in blocks ${formatRanges([range])}, exported before: ${formatChange(removedRows, addedRows)}`,
    ...changed.map((table) => `    ${table}: ${formatChange(removed[table], added[table])}`),
    ...(file === undefined ? [] : [`    listed in ${outputName(job)}/${file}`]),
  ]
}

function readMessage(
  { kind, startBlock, endBlock = startBlock }: Job,
  { wallets, missing }: RunStats,
): string {
  if (kind === 'wallets') return formatCount(wallets, 'wallet')
  return formatCount(endBlock - startBlock - countBlocks(missing), 'block')
}

/** What the requests cost, if the service counts in compute units. */
function unitsLine({ computeUnits }: RunStats): string[] {
  return computeUnits > 0 ? [`  ${formatCount(computeUnits, 'compute unit')}`] : []
}

function retryLine({ rateLimited, retries }: RunStats): string[] {
  const parts = presentLines(
    rateLimited > 0 && `${formatInteger(rateLimited)} throttled (429)`,
    retries > 0 && `${formatInteger(retries)} retried`,
  )
  return parts.length === 0 ? [] : [`  ${parts.join(', ')}`]
}

/** Listings whose pages of the default size failed; smaller pages cost more requests. */
function pageSizeLine({ smallPages }: RunStats): string[] {
  if (smallPages.size === 0) return []
  const [[listing] = ['']] = smallPages
  const size = smallest(smallPages.values())
  const affected = smallPages.size === 1 ? listing : formatCount(smallPages.size, 'wallet')
  return [`  pages of ${size} items (larger failed): ${affected}`]
}

function partialLines(stats: RunStats): string[] {
  const { pages, requests } = stats
  const retained = `  ${formatCount(pages, 'page')} stored (${formatCount(requests, 'request')})`
  return [retained, ...unitsLine(stats), ...retryLine(stats), ...pageSizeLine(stats)]
}

/**
 * Commands to try with an export. None of them sends requests to the service.
 *
 * @param program Command with which the user started this program.
 */
function nextSteps(job: Job, program: string): string[] {
  const { service, tables } = job
  const folder = shellQuote(outputName(job))
  const lines = [
    `${program} verify ${folder}`,
    tables.includes('ledger')
      ? `${program} balances ${folder}`
      : `${program} query ${folder} "FROM ${tables[0]} LIMIT 10"`,
    `${program} load ${folder} --to duckdb:lake.db`,
    ...(service.baseUrl === 'demo' ? [`${program} init    # a job of your own`] : []),
  ]
  return ['Next:', ...lines.map((line) => `  ${line}`)]
}
