import { countBlocks } from '../core/model/block-ranges.ts'
import type { Job } from '../core/model/model.ts'
import type { Ended } from '../core/model/run-outcome.ts'
import type { Figures } from '../core/model/run-stats.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { smallest } from '../core/platform/extremes.ts'
import { nameOfOutput } from '../storage/bucket-url.ts'
import {
  blocksBetween,
  counted,
  grouped,
  lasting,
  listedRanges,
  minutesBetween,
  missingWords,
  sized,
  unknownLines,
} from './format.ts'
import { leftOutLines, notReachedLines, refusedWalletLines } from './incomplete-lines.ts'
import { oneLine } from './log.ts'
import { nextSteps } from './next-steps.ts'
import { emptyWalletLines } from './wallet-lines.ts'

export type SummaryContext = {
  /** Milliseconds since 1970. */
  now: number
  /** How the reader started this program, for the next steps; undefined where there is no reader to try them. */
  program: string | undefined
}

/** What a run did, for people: what was written, where, and what to try next. Lines of at most 80 columns. */
export function summaryText(outcomes: readonly Ended[], { now, program }: SummaryContext): string {
  const lines = outcomes.flatMap((outcome) => [...jobLines(outcome, now), ''])
  const done = outcomes.find(({ error }) => error === undefined)
  const steps = done === undefined || program === undefined ? [] : nextSteps(done.job, program)
  return [...lines, ...steps].map(oneLine).join('\n').trimEnd()
}

function jobLines({ job, state, error, figures }: Ended, now: number): string[] {
  if (error !== undefined) return [`${job.name}: not finished (${error.code})`, ...partialLines(figures)]
  if (state === 'unchanged') return unchangedLines(job, figures)
  const spent = `${counted(figures.requests, 'request')}, ${sized(figures.bytes)}`
  const read = `${readWords(job, figures)}, ${counted(figures.transactions, 'transaction')}`
  return [
    `${job.name}: ${state} in ${lasting(now - figures.startedMs)}`,
    `  ${read} (${spent})`,
    ...troubleLine(figures),
    ...pageSizeLine(figures),
    ...writtenLine(figures),
    ...readToLine(job, figures),
    ...job.tables.map((table) => `  ${grouped(figures.rows[table] ?? 0).padStart(12)}  ${table}`),
    `  ${counted(figures.files, job.format === 'csv' ? 'CSV file' : 'Parquet file')} in ${nameOfOutput(job)}`,
    ...(figures.rejects > 0
      ? [`  ${counted(figures.rejects, 'record')} set aside in ${nameOfOutput(job)}/rejects.ndjson`]
      : []),
    ...unknownLines(figures).map((line) => `  ${line}`),
    ...contradictionLines(figures),
    ...changeLines(figures, job),
    ...gapLines(job, figures),
    ...(figures.missing.length > 0 ? [`  ${missingWords(figures.missing)}`] : []),
    ...emptyLines(figures, job),
  ]
}

/** What the export lacks although the run did not fail. */
function gapLines(job: Job, figures: Figures): string[] {
  return [
    ...notReachedLines(job, figures),
    ...leftOutLines(figures, job),
    ...refusedWalletLines(figures.refused, labelsOf(job.wallets)),
  ]
}

/** Wallets without a transaction; not where transactions were left out. */
function emptyLines({ emptyWallets, leftOut }: Figures, job: Job): string[] {
  if (leftOut !== undefined) return []
  return emptyWalletLines(emptyWallets, labelsOf(job.wallets))
}

/** Which blocks the run wrote, and from when their transactions are. */
function writtenLine({ written }: Figures): string[] {
  if (written === undefined || written.from >= written.to) return []
  const { times } = written
  const when = times === undefined ? '' : `, ${minutesBetween(times.first, times.last)}`
  return [`  ${blocksBetween(written)}${when}`]
}

/** Where the next run goes on: no wallet has a block that another lacks. */
function readToLine({ kind, startBlock, endBlock }: Job, { endBlock: end }: Figures): string[] {
  if (kind === 'blocks' || endBlock !== undefined || end === undefined) return []
  if (end <= startBlock) return [nothingYetLine(startBlock)]
  return [`  each wallet was read to block ${end - 1}; the next run looks at the last blocks again`]
}

/** Where no block was read to name: no wallet of the job has shown a transaction so far. */
function nothingYetLine(startBlock: number): string {
  const where = startBlock === 0 ? '' : ` from block ${startBlock} on`
  return `  no transactions yet${where}; the next run looks again`
}

/** A job without `endBlock` asks every time; one with it is over once it is complete. */
function unchangedLines(job: Job, figures: Figures): string[] {
  const { name, startBlock } = job
  const output = nameOfOutput(job)
  const { requests, endBlock = 0 } = figures
  const empty = [
    ...unknownLines(figures).map((line) => `  ${line}`),
    ...gapLines(job, figures),
    ...emptyLines(figures, job),
  ]
  if (requests === 0)
    return [
      `${name}: already complete in ${output}`,
      '  nothing was asked; --fresh exports it again',
      ...empty,
    ]
  return [
    `${name}: nothing new (${counted(requests, 'request')})`,
    endBlock <= startBlock
      ? nothingYetLine(startBlock)
      : `  ${output} goes up to block ${endBlock - 1} for each wallet`,
    ...empty,
  ]
}

/** Facts that the service shows in several ways. */
function contradictionLines({ contradicted: { found, unresolved }, repeatedLogs }: Figures): string[] {
  const still = unresolved === 0 ? 'and now agree' : `and ${grouped(unresolved)} still differ`
  return [
    ...(found > 0
      ? [`  ${counted(found, 'transaction')} differed between wallets: read again, ${still}`]
      : []),
    ...(repeatedLogs > 0
      ? [`  ${counted(repeatedLogs, 'log')} listed as two kinds of token: kept as one`]
      : []),
  ]
}

/** What changed in blocks that were exported before. */
function changeLines({ changes }: Figures, job: Job): string[] {
  if (changes === undefined) return []
  const { tables } = job
  const { range, removed, added, file } = changes
  const wordsOf = (less = 0, more = 0) => `${counted(less, 'row')} removed, ${grouped(more)} added`
  const [less, more] = [removed, added].map((counts) => Object.values(counts).reduce((sum, n) => sum + n, 0))
  const changed = tables.filter((table) => (removed[table] ?? 0) + (added[table] ?? 0) > 0)
  return [
    `  in blocks ${listedRanges([range])}, exported before: ${wordsOf(less, more)}`,
    ...changed.map((table) => `    ${table}: ${wordsOf(removed[table], added[table])}`),
    ...(file === undefined ? [] : [`    listed in ${nameOfOutput(job)}/${file}`]),
  ]
}

function readWords({ kind, startBlock, endBlock = startBlock }: Job, { wallets, missing }: Figures): string {
  if (kind === 'wallets') return counted(wallets, 'wallet')
  return counted(endBlock - startBlock - countBlocks(missing), 'block')
}

function troubleLine({ refusals, retries }: Figures): string[] {
  const refused = refusals > 0 ? [`${grouped(refusals)} answered 429`] : []
  const repeated = retries > 0 ? [`${grouped(retries)} tried again`] : []
  const troubles = [...refused, ...repeated]
  return troubles.length === 0 ? [] : [`  ${troubles.join(', ')}`]
}

/** Listings whose usual pages were too much for the service: they cost more requests. */
function pageSizeLine({ smallPages }: Figures): string[] {
  if (smallPages.size === 0) return []
  const [[listing] = ['']] = smallPages
  const size = smallest(smallPages.values())
  const whose = smallPages.size === 1 ? listing : counted(smallPages.size, 'wallet')
  return [`  pages of ${size} items (larger failed): ${whose}`]
}

function partialLines(figures: Figures): string[] {
  const { pages, requests } = figures
  const kept = `  ${counted(pages, 'page')} kept (${counted(requests, 'request')})`
  return [kept, ...troubleLine(figures), ...pageSizeLine(figures)]
}
