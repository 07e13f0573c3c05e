import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { BucketLocation, Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { type CompactOptions, compactOutput } from '../../src/files/compact.ts'
import { openBucket } from '../../src/storage/bucket.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { expectValid } from './expect-valid.ts'
import { type Listing, withChangedPage } from './faults.ts'
import { type TestFields, testJob } from './jobs.ts'
import { startLoopback } from './loopback.ts'
import { smallWallets } from './node-data.ts'
import { readCsvTable, readManifest, readParquetTable, type TextRow } from './read-output.ts'
import { tempFolder } from './temp-folder.ts'

export type Item = Listing['transactions'][number] & { erc20Transfers?: { erc20Token: object }[] }

/** Transforms the items that the server lists. */
type IndexView = (items: Item[]) => Item[]

export const unchanged: IndexView = (items) => items

/**
 * Starts a server whose chain has `from` as its head, grows by `advance`, and whose items can be transformed by
 * `listing.view`. The server also serves the chain under the alias; items carry the EVM chain id. It stops when the test
 * ends.
 */
export async function growingChain(from: number, { alias = '43114' } = {}) {
  const { handle, ...service } = createDataService({ replay: { from } })
  const listing = { view: unchanged }
  const respondWithView = withChangedPage((page) => ({
    ...page,
    transactions: listing.view(page.transactions),
  }))
  const handleAlias = (request: Parameters<typeof handle>[0]) =>
    handle({ ...request, url: request.url.replace(`/chains/${alias}/`, '/chains/43114/') })
  const { url, requests } = await startLoopback({ ...service, handle: handleAlias }, (request) =>
    listing.view === unchanged
      ? undefined
      : (response, handle) => void respondWithView(response, handle, request),
  )
  onTestFinished(() => service.close())
  return { url, received: requests, listing, advance: (blocks: number) => service.advance(blocks) }
}

const blockOf = ({ nativeTransaction }: Item) => Number(nativeTransaction.blockNumber)

/** Hides the items of these blocks, as if they were not indexed. */
export const withoutBlocks =
  (...blocks: readonly number[]): IndexView =>
  (items) =>
    items.filter((item) => !blocks.includes(blockOf(item)))

/** Changes the hashes of these blocks and their transactions, as after a reorg. */
export const forked =
  (...blocks: readonly number[]): IndexView =>
  (items) =>
    items.map((item) => {
      if (!blocks.includes(blockOf(item))) return item
      const txHash = `0xf0f0${String(item.nativeTransaction.txHash).slice(6)}`
      const blockHash = `0x${'f'.repeat(64)}`
      return { ...item, nativeTransaction: { ...item.nativeTransaction, txHash, blockHash } }
    })

type HeadJobOptions = TestFields & { addresses?: readonly string[]; count?: number }

/** A job without an endBlock, by default for six small wallets of the demo chain. */
export function headJob(url: string, options: HeadJobOptions = {}): Job {
  const { count = 6, ...fields } = options
  const addresses = smallWallets.slice(0, count)
  const service = { baseUrl: url }
  const job = testJob({ addresses, endBlock: undefined, output: tempFolder(), service, ...fields })
  return fields.output === undefined ? withStore(job) : job
}

/** Source of object store locations for the jobs of a test; undefined to export to folders. */
export const bucketLocations: { next: (() => BucketLocation) | undefined } = { next: undefined }

/** The job with a new location in an object store, if `bucketLocations` provides one. */
export const withStore = (job: Job): Job =>
  bucketLocations.next === undefined ? job : { ...job, store: bucketLocations.next() }

/** The job with a new output folder. */
export const inNewFolder = (job: Job): Job => ({ ...job, store: undefined, output: tempFolder() })

/** Runs the job and throws its error, if any. */
export async function runOnce(job: Job, options: RunOptions = {}) {
  const result = await run([job], options)
  const error = result.jobs[0]?.error
  if (error !== undefined) throw error
  await fetchToFolder(job)
  return result.jobs[0]
}

/** Runs the job with this many requests at most, until it is complete. Resolves with the number of runs. */
export async function runInSteps(job: Job, maxRequests: number): Promise<number> {
  for (let runs = 1; runs < 200; runs += 1) {
    const { code } = await run([job], { maxRequests, retry: { firstDelayMs: 1, maxDelayMs: 2 } })
    if (code === undefined) return runs
    expect(code).toBe('BUDGET_REACHED')
  }
  throw new Error('the job makes no progress')
}

/** Merges the files of a job's export. */
export async function mergeFiles(job: Job, options: CompactOptions = {}) {
  const merged = await compactOutput({ output: job.output, store: job.store }, options)
  await fetchToFolder(job)
  return merged
}

/** The rows of every table of an output, in file order, by an independent reader. */
export async function rowsIn(output: string) {
  const rows = {} as Record<TableName, TextRow[]>
  const readTable = readManifest(output).job.format === 'csv' ? readCsvTable : readParquetTable
  for (const table of DEFAULT_TABLES) rows[table] = await readTable(output, table)
  return rows
}

/** Downloads an export from the object store into the job's folder, for readers of folders. */
export async function fetchToFolder({ store, output }: Job): Promise<void> {
  if (store === undefined) return
  await fetchExport(store, output)
  const bucket = await openBucket(store)
  for (const path of (await bucket.sizes('changes/')).keys()) await bucket.fetch(path, join(output, path))
  bucket.close()
}

/** Asserts that the output has the rows and coverage of a new export to CSV, and that `verify` finds no problems. */
export async function expectSameAsFresh(job: Job): Promise<void> {
  const fresh = { ...inNewFolder(job), format: 'csv' as const, compression: 'none' as const }
  await runOnce(fresh)
  await fetchToFolder(job)
  expect(await rowsIn(job.output)).toEqual(await rowsIn(fresh.output))
  // How far a wallet is known to be complete depends on the runs before.
  const coverageOf = ({ output }: Job) => readManifest(output).coverage.map((one) => ({ ...one, toBlock: 0 }))
  expect(coverageOf(job)).toEqual(coverageOf(fresh))
  await expectValid(job.output)
}
