import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../core/disk.ts'
import type { Changes, Figures } from '../core/figures.ts'
import { orAborted } from '../core/follow-signal.ts'
import { listingsOf } from '../core/listings.ts'
import { type Coverage, PRIVATE_FOLDER } from '../core/manifest.ts'
import type { BlockRange, Job } from '../core/model.ts'
import type { TableName } from '../core/table/index.ts'
import { shrinkHeap } from '../core/v8.ts'
import { overlapTooMuch } from '../merge/condense.ts'
import { mergeItems } from '../merge/merge-items.ts'
import { openSource } from '../merge/source-place.ts'
import type { Spool } from '../spool/spool.ts'
import type { Frame, Written } from '../spool/state.ts'
import type { Part } from '../write/assemble-table.ts'
import { buildManifest, type Kept } from '../write/build-manifest.ts'
import { sumOf } from '../write/chunk.ts'
import { listChanges } from '../write/list-changes.ts'
import { publish } from '../write/publish.ts'
import { recallChanges } from '../write/publish-changes.ts'
import { writeRaw } from '../write/raw.ts'
import { coverageWithout, type Earlier, endOfExport } from './earlier-export.ts'
import { type EarlyTables, openEarlyTables } from './early-tables.ts'
import { openPlaces, type Places } from './open-places.ts'
import { badItems, rejectLines } from './rejects.ts'
import { settleMoved } from './settle-moved.ts'
import { bytesOf, createSlicer, placesIn, type Slicer, type Slicing } from './slicer.ts'
import { openWritePool, type WritePool } from './threads/pool.ts'
import { type SliceContext, type SliceRows, seenIn } from './write-slice.ts'

export type Output = {
  job: Job
  spool: Spool
  figures: Figures
  signal: AbortSignal
  /** What an earlier run has exported, and the block from which on this one writes. */
  earlier: Earlier
}

/** The writing of one job: rows are made while pages arrive, files once all of them are there. */
export type OutputWriter = {
  /** A page is on disk, with a body of so many bytes. */
  pageArrived(bytes: number): void
  /** Makes the files of the blocks up to the end and publishes them. Throws OUTPUT_FAILED. */
  finish(end: number): Promise<Written>
  /** Gives up what is under way and removes what was staged. */
  close(): Promise<void>
}

/** Opens the writing of what the spool holds and will hold. Asks the service nothing. */
export async function openOutput(output: Output): Promise<OutputWriter> {
  const folder = partsFolder(output.job)
  await rm(folder, { recursive: true, force: true })
  await makeFolder(folder)
  const context = sliceContext(output, folder)
  const pool = openWritePool(context)
  const early = openEarlyTables(context)
  const pages = openPlaces(context)
  const condense: Slicing['condense'] = async (places) => {
    if (!overlapTooMuch(places)) return places
    return pool.run({ kind: 'condense', places }, bytesOf(places)).finally(shrinkHeap)
  }
  const slicer = createSlicer({
    spool: output.spool,
    wallets: listingsOf(output.job),
    from: output.earlier.from,
    pool,
    condense,
    onRows: (rows) => noteRows(output.figures, rows),
  })
  return {
    pageArrived: slicer.pageArrived,
    finish: (end) =>
      finish({ ...output, slicer, pool, early, pages, condense }, { from: output.earlier.from, to: end }),
    close: async () => {
      await Promise.all([pool.close(), early.close()])
      pages.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Where files are staged. */
function partsFolder({ output }: Job): string {
  return join(output, PRIVATE_FOLDER, 'parts')
}

function sliceContext({ job, spool }: Output, folder: string): SliceContext {
  const { chain, nativeSymbol, tables, format, compression, escapeFormulas, maxRowsPerFile } = job
  const { partitionBy, targetFileBytes } = job
  return {
    ...{ chain, nativeSymbol, tables, format, compression, escapeFormulas, maxRowsPerFile, folder },
    ...{ partitionBy, targetFileBytes },
    addresses: job.wallets.map(({ address }) => address),
    labels: new Map(job.wallets.flatMap(({ address, label }) => (label === null ? [] : [[address, label]]))),
    cutMs: spool.cutMs,
    pagesFile: spool.path,
    runsFile: join(folder, 'sorted-runs'),
  }
}

function noteRows(figures: Figures, { transactions, chunks }: SliceRows, times: 1 | -1 = 1): void {
  figures.transactions += times * transactions
  for (const [table, { rows }] of chunks) figures.rows[table] = (figures.rows[table] ?? 0) + times * rows
}

type Finishing = Output & {
  slicer: Slicer
  pool: WritePool
  early: EarlyTables
  pages: Places
  condense: Slicing['condense']
}

async function finish(finishing: Finishing, range: BlockRange): Promise<Written> {
  const { job, figures, signal, earlier, pool } = finishing
  // What is under way at an abort is given up when the output is closed.
  const slices = await orAborted(settledSlices(finishing, range), signal)
  const parts = await orAborted(assembleTables(finishing, slices, range), signal)
  // Its memory goes before the manifest is made.
  await pool.close()
  if (job.keepRaw) await keepRaw(finishing, range)
  const rejected = await rejectLines(finishing, slices)
  const rejects = [...new Set([...earlier.rejects, ...rejected])].sort()
  const listings = [...listingsOf(job)]
  const seen = countSeen(slices.map((slice) => seenIn(slice, listings)))
  const kept = keptOf(earlier, job)
  const everSeen = countSeen([...earlier.written.map((one) => new Map(Object.entries(one.seen))), seen])
  const source = { job, range, parts, seen: everSeen, missing: finishing.spool.missing(), kept }
  const manifest = buildManifest({ ...source, rejects: rejects.length })
  signal.throwIfAborted()
  figures.changes = await findChanges(finishing, parts)
  await publish({ folder: job.output, manifest, parts: [...parts.values()].flat(), rejects })
  const files = Object.values(manifest.tables).reduce((sum, table) => sum + table.files.length, 0)
  figures.totalRows = Object.fromEntries(
    Object.entries(manifest.tables).map(([table, { rows }]) => [table, rows]),
  )
  Object.assign(figures, { files, rejects: rejects.length })
  return { ...range, seen: Object.fromEntries(seen) }
}

/** The slices of the range, every transaction in one of them. */
async function settledSlices(finishing: Finishing, range: BlockRange): Promise<readonly SliceRows[]> {
  const { job, spool, figures, slicer, pool, early, pages, condense } = finishing
  const ready = pool.expectNoMore()
  const begun = await slicer.finish(range)
  await early.begin({ range, slices: begun, ready })
  await ready
  const cut = await Promise.all(begun)
  const frames = spool.frames(listingsOf(job))
  return settleMoved(cut, {
    placesIn: (blocks) => placesIn(frames, blocks),
    open: (place) => openSource(place, { read: pages.read, range, cutMs: spool.cutMs }),
    condense,
    rewrite: async (before, slice) => {
      const rows = await pool.run({ kind: 'slice', slice }, 0)
      noteRows(figures, before, -1)
      noteRows(figures, rows)
      return rows
    },
  })
}

/** What the parts change in blocks that were exported before; a run that is resumed may have listed it already. */
async function findChanges(
  { job, spool, earlier, signal }: Finishing,
  parts: ReadonlyMap<TableName, readonly Part[]>,
): Promise<Changes | undefined> {
  const { before, from } = earlier
  const place = { output: job.output, run: spool.cutMs }
  const to = before === undefined ? from : endOfExport(before)
  if (before === undefined || from >= to) return recallChanges(place)
  return listChanges({ ...place, before, parts, range: { from, to }, folder: partsFolder(job), signal })
}

/** The files that stay, and the wallets that the job no longer has, as far as these files go. */
function keptOf({ manifest, from, written }: Earlier, job: Job): Kept | undefined {
  if (manifest === undefined) return undefined
  const seen = countSeen(written.map((one) => new Map(Object.entries(one.seen))))
  const tables = Object.entries(manifest.tables).map(([table, { files, ...rest }]) => [
    table,
    { ...rest, files: files.filter(({ toBlock }) => toBlock <= from) },
  ])
  return {
    tables: Object.fromEntries(tables),
    coverage: coverageWithout(job, manifest)
      .filter(({ fromBlock }) => fromBlock < from)
      .map((one): Coverage => ({ ...(one.toBlock <= from ? one : cutTo(one, from, seen)), removed: true })),
  }
}

/** What is left of a wallet's coverage where its last blocks were written again without it. */
function cutTo(covered: Coverage, toBlock: number, seen: ReadonlyMap<string, number>): Coverage {
  return { ...covered, toBlock, transactions: seen.get(covered.address) ?? 0 }
}

async function assembleTables(
  { job, pool, early }: Finishing,
  slices: readonly SliceRows[],
  range: BlockRange,
): Promise<Map<TableName, Part[]>> {
  const tables = job.tables.map((name) => {
    const chunks = slices.flatMap((slice) => slice.chunks.get(name) ?? []).filter(({ rows }) => rows > 0)
    return { name, chunks, bytes: sumOf(chunks).bytes }
  })
  // The largest first: it takes longest, and others can be made meanwhile.
  const bySize = [...tables].sort((a, b) => b.bytes - a.bytes)
  const work = bySize.map(
    async ({ name, chunks, bytes }) =>
      [
        name,
        (await early.take(name, chunks)) ?? (await pool.run({ kind: 'table', name, chunks, range }, bytes)),
      ] as const,
  )
  const made = new Map(await Promise.all(work))
  return new Map(job.tables.map((name) => [name, made.get(name) ?? []]))
}

function countSeen(counts: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const seen = new Map<string, number>()
  for (const one of counts)
    for (const [wallet, count] of one) seen.set(wallet, (seen.get(wallet) ?? 0) + count)
  return seen
}

/** One file a wallet, or one of all blocks, under `raw/`: items as they were received, in chain order, one a line. */
async function keepRaw({ job, spool, earlier, pages }: Finishing, { to }: BlockRange): Promise<void> {
  // Pages of earlier runs may be gone: then the file has their items, and these come after it.
  const appendFrom = spool.base > job.startBlock ? earlier.from : undefined
  const range = { from: appendFrom ?? job.startBlock, to }
  const context = { read: pages.read, range, cutMs: spool.cutMs }
  const framesOf = new Map<string, Frame[]>([...listingsOf(job)].map((listing) => [listing, []]))
  for (const frame of spool.frames(listingsOf(job))) framesOf.get(frame.wallet)?.push(frame)
  for (const [address, frames] of framesOf) {
    const transactions = mergeItems(placesIn(frames, range).map((place) => openSource(place, context)))
    const bad = (await badItems(frames, spool)).map(({ item }) => item)
    await writeRaw({ ...{ folder: job.output, address, transactions, bad }, appendFrom })
  }
}
