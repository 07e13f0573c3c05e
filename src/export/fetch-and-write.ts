import type { Spool } from '../checkpoint/checkpoint.ts'
import { LOOKBACK_BLOCKS } from '../core/model/limits.ts'
import type { Listings } from '../core/model/listings.ts'
import type { Manifest } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { type Figures, noteWholeExport } from '../core/model/run-stats.ts'
import { readManifestIfAny } from '../files/publish.ts'
import { recallChanges } from '../files/publish-changes.ts'
import type { Requester } from '../http/request.ts'
import type { Store } from '../storage/store.ts'
import { countLeftOut } from '../transform/left-out.ts'
import { crawlJob } from './fetch/fetch-job.ts'
import { type Arranged, type OutputWriter, openOutput } from './open-output.ts'
import { createReopener } from './reopen-contradicted.ts'
import type { ExportedBefore } from './resume/already-exported.ts'
import { hasBorderChanged } from './resume/compare-lookback.ts'
import { findExport } from './resume/find-export.ts'
import {
  continueExport,
  type Earlier,
  endOfExport,
  endsOfRefused,
  listingsToRead,
  namesWalletsOf,
} from './resume/previous-export.ts'
import type { Begun } from './resume/start-run.ts'

/** One job of a run, with the output that is this process's. */
export type Reading = {
  job: Job
  store: Store
  requester: Requester
  figures: Figures
  /** Blocks at the end of an earlier run that are read again; undefined: as many as usual. */
  lookbackBlocks: number | undefined
  onNotice: (notice: string) => void
}

/** `pages gone`: transactions moved out of blocks whose pages are gone, so that all of the history has to be read again. */
export type WriteState = 'complete' | 'unchanged' | 'pages gone'

/**
 * Reads what is missing and writes it. Where the last blocks of the export are only compared, the new ones are written while
 * they come, as if nothing had changed; if something has, these rows are given up and the border is written again too. Where
 * the chain was reorganised further back, blocks are read and written again from there on. Where the service refuses wallets,
 * the others are written once it is known up to which block those were read.
 */
export async function readAndWrite(
  reading: Reading,
  { spool, earlier, unchanged }: Begun,
): Promise<WriteState> {
  const border = unchanged && { from: spool.from, to: unchanged.from }
  const state = await writeFrom(reading, { spool, earlier: unchanged ?? earlier, border })
  if (state === 'border changed') return readAndWrite(reading, { spool, earlier })
  if (state === 'wallets refused') {
    const { job, figures } = reading
    const ends = endsOfRefused(job, earlier, { refused: figures.refused, spool })
    return readAndWrite(reading, { spool, earlier: { ...earlier, ends } })
  }
  if (typeof state === 'string') return state
  const further = await reachBack(reading, spool, state)
  return further === undefined ? 'pages gone' : readAndWrite(reading, { spool, earlier: further })
}

type Writing = {
  spool: Spool
  /** The blocks of the export from where the writing begins stay. */
  earlier: Earlier
  /** Blocks at its end that are to be as they were. */
  border: BlockRange | undefined
}

type Unwritten = 'border changed' | 'wallets refused' | ExportedBefore

/**
 * Reads, and writes what is new; nothing is written where the border has changed, or blocks before it, or where wallets were
 * refused whose ends `earlier` does not have: the rows of other wallets depend on how far those were read.
 */
async function writeFrom(
  reading: Reading,
  { spool, earlier, border }: Writing,
): Promise<WriteState | Unwritten> {
  const { job, store, requester, figures, onNotice } = reading
  const output = await openOutput({ job, store, spool, figures, signal: requester.signal, earlier })
  try {
    figures.phase = 'reading'
    const listings = listingsToRead(job, earlier)
    const { before, from } = earlier
    const leastEnd = before === undefined ? 0 : endOfExport(before)
    const mutableBlocks = Math.max(LOOKBACK_BLOCKS, reading.lookbackBlocks ?? 0)
    const arriving = { readPage: output.readPage, onPage: output.pageArrived }
    const crawl = () =>
      crawlJob({ job, listings, leastEnd, mutableBlocks, requester, spool, figures, onNotice, ...arriving })
    const end = earlier.ends === undefined ? await crawl() : (figures.endBlock ?? (await crawl()))
    figures.endBlock = end
    if (refusesMore(figures, earlier)) return forgetRows(figures, 'wallets refused')
    if (border !== undefined && (await hasBorderChanged(spool, listings, border)))
      return forgetRows(figures, 'border changed')
    figures.leftOut = await countLeftOut(spool, listings)
    const isNew = before === undefined || end > from || from < leastEnd || !describesWallets(before, reading)
    if (!isNew) return leaveUnchanged(reading, spool, end)
    figures.phase = 'writing'
    figures.share = 1
    const reopen = createReopener({ job, spool, listings: withoutRefused(listings, figures), onNotice })
    const { exportedBefore } = await arrange(output, { end, figures, crawl, reopen })
    if (refusesMore(figures, earlier)) return forgetRows(figures, 'wallets refused')
    if (exportedBefore !== undefined) return forgetRows(figures, exportedBefore)
    const written = await output.finish(end)
    figures.endBlock = written.to
    if (isOpen(job, figures)) await spool.finish(written)
    return 'complete'
  } finally {
    await output.close()
  }
}

type Arranging = {
  end: number
  figures: Figures
  /** Reads what is open. */
  crawl: () => Promise<number>
  reopen: ReturnType<typeof createReopener>
}

/** Puts rows in order, and reads again what wallets were shown differently, until they agree or have been read again. */
async function arrange(output: OutputWriter, { end, figures, crawl, reopen }: Arranging): Promise<Arranged> {
  for (let found = 0; ; ) {
    const arranged = await output.arrange(end)
    found = Math.max(found, arranged.contradicted)
    figures.contradicted = { found, unresolved: arranged.contradicted }
    if (arranged.exportedBefore !== undefined || !(await reopen(arranged))) return arranged
    await crawl()
  }
}

/** Forgets what was counted of rows that will not be published; `why` is returned. */
function forgetRows<Why>(figures: Figures, why: Why): Why {
  Object.assign(figures, { rows: {}, transactions: 0 })
  return why
}

/** Whether the service refused wallets whose ends are not known yet. */
function refusesMore({ refused }: Figures, { ends }: Earlier): boolean {
  return refused.length > (ends?.size ?? 0)
}

function withoutRefused(listings: Listings, { refused }: Figures): Listings {
  const names = new Set(refused.map(({ address }) => address))
  return new Map([...listings].filter(([name]) => !names.has(name)))
}

/** Whether the export names the job's wallets, and the refusals that this run met. */
function describesWallets(before: Manifest, { job, figures: { refused } }: Reading): boolean {
  const named = new Map(before.coverage.map(({ address, error }) => [address, error]))
  const refusals = [...named.values()].filter((error) => error !== undefined)
  return (
    namesWalletsOf(job, before) &&
    refusals.length === refused.length &&
    refused.every(({ address, error }) => named.get(address) === error)
  )
}

/** Whether later runs read on: the job has no end, or the chain has not reached it. */
export function isOpen({ endBlock, kind }: Job, figures: Pick<Figures, 'endBlock'>): boolean {
  if (endBlock === undefined) return true
  return kind === 'wallets' && figures.endBlock !== undefined && figures.endBlock < endBlock
}

async function leaveUnchanged({ job, store, figures }: Reading, spool: Spool, end: number) {
  await recallFigures(job, figures)
  figures.changes = await recallChanges({ store, run: spool.begunMs })
  figures.endBlock = end
  if (isOpen(job, figures)) await spool.finish({ from: end, to: end, seen: {} })
  return 'unchanged' as const
}

/** What an earlier run wrote, for the summary and the exit code of this one. */
export async function recallFigures(job: Job, figures: Figures): Promise<void> {
  const manifest = await readManifestIfAny(job.output)
  if (manifest !== undefined) noteWholeExport(figures, manifest)
}

/**
 * Where a run begins to write whose transactions were exported in earlier blocks: from there on all listings are read again.
 * Undefined where the pages of these blocks are gone.
 */
async function reachBack(
  { job, store, onNotice }: Reading,
  spool: Spool,
  { transactions, block }: ExportedBefore,
): Promise<Earlier | undefined> {
  const what =
    transactions === 1
      ? '1 transaction was exported in an earlier block'
      : `${transactions} transactions were exported in earlier blocks`
  const found = block === undefined ? undefined : await findExport(job, store)
  if (block === undefined || found === undefined) {
    onNotice(`${job.name}: the chain was reorganised: ${what}, and pages of these are gone`)
    return undefined
  }
  onNotice(`${job.name}: the chain was reorganised: ${what}; blocks from ${block} on are read again`)
  const earlier = await continueExport(job, found, { spool, from: block })
  for (const [listing, counted] of listingsToRead(job, earlier)) {
    const again = { from: Math.max(block, counted.from), to: Math.min(spool.from, counted.to) }
    const isDone = spool.reopened(listing).some(({ from, to }) => from <= again.from && to >= again.to)
    if (again.from < again.to && !isDone) await spool.reopen(listing, again)
  }
  return earlier
}
