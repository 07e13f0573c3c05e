import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/checkpoint/checkpoint.ts'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import type { Job } from '../../src/core/model/model.ts'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import { fixedFees } from '../../src/export/fees/fee-resolver.ts'
import { openOutputWriter } from '../../src/export/output-writer.ts'
import { noPreviousExport } from '../../src/export/resume/previous-export.ts'
import { folderStore } from '../../src/storage/store.ts'
import { testJob } from '../helpers/jobs.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, itemAt } from '../transform/pages-file.ts'

const [PAGES, STEP] = [48, 10]
const END = PAGES * STEP
/** Makes pages so large that a few of them fill a batch. */
const PADDING = 'x'.repeat(200_000)
const NO_BLOCK = { nativeTransaction: { blockNumber: 'x' } }

/**
 * Page `at` of wallet A: three transactions, the last of which the next page repeats, and items without a
 * valid position.
 */
function pageOf(at: number) {
  const from = at * STEP
  const bad = [...(at % 7 === 0 ? [null] : []), ...(at > 40 ? [NO_BLOCK] : [])]
  const transactions = [itemAt(from), ...bad, itemAt(from + STEP - 1), itemAt(Math.min(from + STEP, END - 1))]
  const body = Buffer.from(JSON.stringify({ transactions, padding: PADDING }))
  const blocks = { min: from, max: Math.min(from + STEP, END - 1) }
  const covered = { from, to: from + STEP }
  return { body, items: transactions.length, bad: bad.length, blocks, head: undefined, covered }
}

type StoredPage = { body: Buffer; offset: number }

async function addPages(
  checkpoint: Checkpoint,
  onPage: (count: number, page: StoredPage) => Promise<void>,
): Promise<void> {
  const transactions = [itemAt(0), itemAt(END - 1), null]
  const body = Buffer.from(JSON.stringify({ transactions }))
  const covered = { from: 0, to: END }
  const blocks = { min: 0, max: END - 1 }
  const page = { body, items: 3, bad: 1, blocks, head: undefined, covered }
  await onPage(0, { body, ...(await checkpoint.addPage(B, page)) })
  for (let at = 0; at < PAGES; at += 1) {
    const next = pageOf(at)
    await onPage(at + 1, { body: next.body, ...(await checkpoint.addPage(A, next)) })
  }
}

type WriteOptions = {
  /** Whether the writer is notified of stored pages. */
  isNotified?: boolean
  signal?: AbortSignal
  job?: Partial<Job>
  /** Called with the number of pages so far. */
  onPage?: (count: number, checkpoint: Checkpoint) => unknown
}

/** Writes the pages of both wallets. Resolves with the output folder and the run stats. */
async function write({ isNotified = true, onPage, signal, job: given }: WriteOptions = {}) {
  const job = testJob({ addresses: [A, B], endBlock: END, output: tempFolder(), ...given })
  const { output } = job
  const identity = { chain: job.chain, startBlock: 0, endBlock: END, finalityMs: 0 }
  const folder = join(output, '.walletlake')
  const checkpoint = await openCheckpoint({ folder, identity, now: 0, onDamage: () => {} })
  const stats = newRunStats(2, 0)
  const opening = {
    job,
    store: folderStore(output),
    checkpoint,
    stats,
    signal: signal ?? new AbortController().signal,
  }
  const writer = await openOutputWriter({
    ...opening,
    previous: noPreviousExport(job),
    fees: fixedFees({ from: 'listing' }),
  })
  try {
    await addPages(checkpoint, async (count, page) => {
      if (isNotified) writer.onPageStored(page)
      await onPage?.(count, checkpoint)
    })
    await writer.stage(END)
    await writer.merge()
    await writer.publish()
  } finally {
    await writer.close()
    await checkpoint.close()
    expect(readdirSync(folder)).toEqual(['pages.log'])
  }
  return { output, stats }
}

const rejectsOf = (output: string) =>
  readFileSync(join(output, 'rejects.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('the bytes are the same whether rows are staged early or at the end', async () => {
  const job = { keepRaw: true, maxRowsPerFile: 33 }
  const [early, late] = [await write({ job }), await write({ job, isNotified: false })]
  expect(outputBytes(early.output)).toEqual(outputBytes(late.output))
  expect(early.stats).toEqual(late.stats)
})

test('every transaction is written once, in chain order', async () => {
  const { output, stats } = await write()
  const blocks = Array.from({ length: PAGES }, (_, at) => [at * STEP, at * STEP + STEP - 1]).flat()
  const rows = await readCsvTable(output, 'transactions')
  expect(rows.map((row) => Number(row.block_number))).toEqual(blocks)
  expect(stats).toMatchObject({ transactions: blocks.length, rejects: 3 })
  expect(stats.rows).toMatchObject({ transactions: blocks.length, wallet_transactions: blocks.length + 2 })
  expect(readManifest(output).coverage.map(({ transactions }) => transactions)).toEqual([blocks.length, 2])
})

test('items without a valid position are rejected exactly once per wallet', async () => {
  const { output } = await write()
  const common = { chain_id: '43114', transaction_hash: null, list: null }
  expect(rejectsOf(output)).toEqual([
    { ...common, wallet_address: A, reason: 'blockNumber is not a block number: "x"', record: NO_BLOCK },
    { ...common, wallet_address: A, reason: 'nativeTransaction is missing', record: null },
    { ...common, wallet_address: B, reason: 'nativeTransaction is missing', record: null },
  ])
})

test('raw items of a wallet are written in chain order, items without a valid position last', async () => {
  const { output } = await write({ job: { keepRaw: true } })
  const lines = (wallet: string) =>
    gunzipSync(readFileSync(join(output, 'raw', `${wallet}.ndjson.gz`)))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
  expect(lines(B)).toEqual([itemAt(0), itemAt(END - 1), null])
  expect(lines(A)).toHaveLength(2 * PAGES + 2)
  expect(lines(A).slice(-2)).toEqual([null, NO_BLOCK])
})

test('an aborted write rejects with the abort reason and publishes nothing', async () => {
  const stop = new AbortController()
  const output = tempFolder()
  const onPage = (count: number) => count === PAGES && stop.abort(new Error('the user left'))
  await expect(write({ signal: stop.signal, job: { output }, onPage })).rejects.toThrow('the user left')
  expect(readdirSync(output)).toEqual(['.walletlake'])
})

test('a failed write publishes nothing and leaves no staging files', async () => {
  const output = tempFolder()
  const broken = { ...pageOf(0), body: Buffer.from('{"transactions":[') }
  const onPage = (count: number, checkpoint: Checkpoint) => count === 3 && checkpoint.addPage(B, broken)
  await expect(write({ job: { output }, onPage })).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
  expect(readdirSync(output)).toEqual(['.walletlake'])
})
