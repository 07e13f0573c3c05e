import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Figures } from './figures.ts'
import { type FlatTransaction, flattenTransaction, type Reject } from './flatten/flatten-transaction.ts'
import { PRIVATE_FOLDER } from './manifest.ts'
import { condense } from './merge/condense.ts'
import { type BadItem, type ItemSource, itemsOfPage } from './merge/frame-items.ts'
import { mergeItems } from './merge/merge-items.ts'
import type { BlockRange, Job } from './model.ts'
import type { Spool } from './spool/spool.ts'
import type { Frame } from './spool/state.ts'
import { type Row, type TableName, tableNamed } from './table/index.ts'
import { buildManifest } from './write/build-manifest.ts'
import { publish } from './write/publish.ts'
import { writeRaw } from './write/raw.ts'
import { createTableWriter, type Part, type TableWriter } from './write/table-writer.ts'

export type Output = {
  job: Job
  spool: Spool
  /** Half-open range of blocks that this export covers. */
  range: BlockRange
  figures: Figures
  signal: AbortSignal
}

/** Transactions gathered before their rows are written. */
const BATCH = 500

/** Turns the spooled pages into the files of the output and publishes them. Asks the service nothing. */
export async function writeOutput(output: Output): Promise<void> {
  const folder = join(output.job.output, PRIVATE_FOLDER, 'parts')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const rejects = new Set<string>()
  const seen = new Map<string, number>()
  const writers = openWriters(output, folder)
  try {
    await writeRows(output, { folder, writers, rejects, seen })
    const parts = new Map<TableName, Part[]>()
    for (const [table, writer] of writers) parts.set(table, await writer.finish())
    if (output.job.keepRaw) await keepRaw(output)
    const lines = [...rejects].sort()
    const manifest = buildManifest({ ...output, parts, seen, rejects: lines.length })
    await publish({ folder: output.job.output, manifest, parts: [...parts.values()].flat(), rejects: lines })
    Object.assign(output.figures, { files: [...parts.values()].flat().length, rejects: lines.length })
  } finally {
    await Promise.all([...writers.values()].map((writer) => writer.abandon()))
    await rm(folder, { recursive: true, force: true })
  }
}

function openWriters({ job, range }: Output, folder: string): Map<TableName, TableWriter> {
  return new Map(
    job.tables.map((name) => [name, createTableWriter({ ...job, table: tableNamed(name), folder, range })]),
  )
}

type Writing = {
  folder: string
  writers: ReadonlyMap<TableName, TableWriter>
  rejects: Set<string>
  /** Transactions by wallet. */
  seen: Map<string, number>
}

async function writeRows(output: Output, { folder, writers, rejects, seen }: Writing): Promise<void> {
  const { job, figures, signal } = output
  const onBadItem = (bad: BadItem) =>
    rejects.add(rejectLine(job.chain, { ...bad, transactionHash: null, list: null, record: bad.item }))
  const onReject = (reject: Reject) => rejects.add(rejectLine(job.chain, reject))
  const wallets = new Map(job.wallets.map(({ address, label }) => [address, label]))
  const context = { chain: job.chain, nativeSymbol: job.nativeSymbol, wallets, onReject }
  const merged = await condense(pageSources(output, onBadItem), { file: join(folder, 'sorted-runs') })
  try {
    let batch: FlatTransaction[] = []
    for await (const views of mergeItems(merged.sources)) {
      const flat = flattenTransaction(views, context)
      if (flat === undefined) continue
      for (const wallet of walletsOf(flat)) seen.set(wallet, (seen.get(wallet) ?? 0) + 1)
      figures.transactions += 1
      if (batch.push(flat) < BATCH) continue
      signal.throwIfAborted()
      await writeBatch(batch, { writers, figures })
      batch = []
    }
    await writeBatch(batch, { writers, figures })
  } finally {
    await merged.close()
  }
}

const WALLET_COLUMN = tableNamed('wallet_transactions').columns.findIndex(
  ({ name }) => name === 'wallet_address',
)

function walletsOf(flat: FlatTransaction): string[] {
  return flat.wallet_transactions.map((row) => String(row[WALLET_COLUMN]))
}

type Target = Pick<Writing, 'writers'> & { figures: Figures }

async function writeBatch(batch: readonly FlatTransaction[], { writers, figures }: Target): Promise<void> {
  for (const [table, writer] of writers) {
    const rows: Row[] = []
    for (const flat of batch) for (const row of flat[table]) rows.push(row)
    if (rows.length > 0) await writer.write(rows)
    figures.rows[table] = (figures.rows[table] ?? 0) + rows.length
  }
}

function pageSources({ job, spool, range }: Output, onBadItem: (bad: BadItem) => void): ItemSource[] {
  const wallets = new Set(job.wallets.map(({ address }) => address))
  return spool.frames(wallets).map((frame) => sourceOf(frame, { spool, range, onBadItem }))
}

type PageContext = { spool: Spool; range: BlockRange; onBadItem: (bad: BadItem) => void }

function sourceOf({ wallet, place, blocks }: Frame, { spool, range, onBadItem }: PageContext): ItemSource {
  return {
    bytes: place.bytes,
    span: blocks === null ? null : spanOfBlocks(blocks),
    load: async () =>
      itemsOfPage({ wallet, body: await spool.read(place), range, cutMs: spool.cutMs, onBadItem }),
  }
}

/** All that may lie in these blocks. */
function spanOfBlocks({ min, max }: { min: number; max: number }): ItemSource['span'] {
  return {
    first: { block: min, index: -1, hash: '' },
    last: { block: max, index: Number.MAX_SAFE_INTEGER, hash: '' },
  }
}

function rejectLine(chain: string, { wallet, transactionHash, list, reason, record }: Reject): string {
  return JSON.stringify({
    chain_id: chain,
    wallet_address: wallet,
    transaction_hash: transactionHash,
    list,
    reason,
    record,
  })
}

/** One file a wallet under `raw/`: its items as they were received, in chain order, one a line. */
async function keepRaw({ job, spool, range }: Output): Promise<void> {
  const framesOf = new Map<string, Frame[]>(job.wallets.map(({ address }) => [address, []]))
  for (const frame of spool.frames(new Set(framesOf.keys()))) framesOf.get(frame.wallet)?.push(frame)
  for (const [address, frames] of framesOf) {
    const bad: unknown[] = []
    const context = { spool, range, onBadItem: ({ item }: BadItem) => bad.push(item) }
    const sources = frames.map((frame) => sourceOf(frame, context))
    await writeRaw({ folder: job.output, address, transactions: mergeItems(sources), bad })
  }
}
