import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/model.ts'
import { type RunOptions, run } from '../../src/run.ts'
import { createDataService } from '../../src/service/create-data-service.ts'
import { TABLE_NAMES } from '../../src/table/index.ts'
import { verifyOutput } from '../../src/verify/verify-output.ts'
import { changed, type Listing } from '../helpers/faults.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { truthWallets } from '../helpers/truth.ts'

const NIGHTS = 30
const BLOCKS_A_NIGHT = 14
const some = truthWallets.slice(0, 12)

/** A chain that grows; `hides` takes items out of pages, as an index does that lags. */
async function growingChain(hides: (block: number) => boolean = () => false) {
  const service = createDataService({ replay: { from: BLOCKS_A_NIGHT } })
  const late = changed((page: Listing) => ({
    ...page,
    transactions: page.transactions.filter(
      ({ nativeTransaction }) => !hides(Number(nativeTransaction.blockNumber)),
    ),
  }))
  const { url, asked } = await startLoopback(service, (one) => (response, answer) => {
    late(response, answer, one)
  })
  return { url, asked, advance: (blocks: number) => service.advance(blocks), end: () => service.close() }
}

const jobOf = (url: string, output: string, given: Partial<Job> & { addresses?: readonly string[] } = {}) =>
  testJob({
    addresses: some,
    endBlock: undefined,
    output,
    service: { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
    ...given,
  })

async function export_(job: Job, options: RunOptions = {}) {
  const result = await run([job], options)
  const error = result.jobs[0]?.error
  if (error !== undefined) throw error
  return result.jobs[0]
}

async function rowsIn(output: string) {
  const rows: Record<string, unknown> = {}
  for (const table of TABLE_NAMES) rows[table] = await readCsvTable(output, table)
  return rows
}

async function expectSameAsFresh(output: string, job: Job) {
  const fresh = tempFolder()
  await export_({ ...job, output: fresh })
  expect(await rowsIn(output)).toEqual(await rowsIn(fresh))
  expect(readManifest(output).coverage).toEqual(readManifest(fresh).coverage)
  expect((await verifyOutput(output)).problems).toEqual([])
}

test('thirty nightly runs give the rows of one run at the end', async () => {
  const chain = await growingChain()
  const job = jobOf(chain.url, tempFolder())
  for (let night = 0; night < NIGHTS; night += 1) {
    await export_(job)
    await chain.advance(BLOCKS_A_NIGHT)
  }
  await export_(job)
  expect(readManifest(job.output).tables.transactions?.files.length).toBeGreaterThan(20)
  await expectSameAsFresh(job.output, job)
  await chain.end()
})

test('a night with nothing new costs one request a wallet and changes nothing', async () => {
  const chain = await growingChain()
  const job = jobOf(chain.url, tempFolder())
  await chain.advance(100)
  await export_(job)
  const before = readManifest(job.output)
  const asked = chain.asked.length
  expect((await export_(job))?.state).toBe('unchanged')
  expect(chain.asked.length - asked).toBe(some.length)
  expect(readManifest(job.output)).toEqual(before)
  await chain.end()
})

test('blocks read again bring late items and take vanished ones away', async () => {
  let hidden: readonly number[] = [60, 61, 70]
  const chain = await growingChain((block) => hidden.includes(block))
  const job = jobOf(chain.url, tempFolder())
  await chain.advance(80)
  await export_(job)
  hidden = [65, 71]
  await chain.advance(20)
  await export_(job, { rereadBlocks: 60 })
  await expectSameAsFresh(job.output, job)
  hidden = []
  await export_(job, { rereadBlocks: 100 })
  await expectSameAsFresh(job.output, job)
  await chain.end()
})

test('a wallet added later is read back and shared rows stay single', async () => {
  const chain = await growingChain()
  const output = tempFolder()
  await chain.advance(150)
  await export_(jobOf(chain.url, output, { addresses: some.slice(0, 6) }))
  await chain.advance(150)
  await export_(jobOf(chain.url, output, { addresses: some.slice(0, 6) }))
  const job = jobOf(chain.url, output)
  await export_(job)
  await expectSameAsFresh(output, job)
  await chain.end()
})

test('a removed wallet keeps its history up to where it was read', async () => {
  const chain = await growingChain()
  const output = tempFolder()
  await chain.advance(150)
  await export_(jobOf(chain.url, output))
  await chain.advance(150)
  await export_(jobOf(chain.url, output, { addresses: some.slice(1) }))
  const { coverage } = readManifest(output)
  const ends = new Map(coverage.map(({ address, toBlock }) => [address, toBlock]))
  expect(ends.get(some[0] ?? '')).toBeLessThan(ends.get(some[1] ?? '') ?? 0)
  expect((await verifyOutput(output)).problems).toEqual([])
  await chain.end()
})

test('blocks written again without a wallet end its coverage there', async () => {
  const chain = await growingChain()
  const output = tempFolder()
  for (const blocks of [120, 100]) {
    await chain.advance(blocks)
    await export_(jobOf(chain.url, output))
  }
  const [first = ''] = some
  const ofFirst = () => readManifest(output).coverage.find(({ address }) => address === first)
  const before = ofFirst()
  await chain.advance(30)
  await export_(jobOf(chain.url, output, { addresses: some.slice(1) }), { rereadBlocks: 80 })
  const after = ofFirst()
  expect(after?.toBlock).toBeLessThan(before?.toBlock ?? 0)
  expect(after?.transactions).toBeLessThan(before?.transactions ?? 0)
  expect((await verifyOutput(output)).problems).toEqual([])
  await chain.end()
})

test('without its checkpoint an export still grows from its manifest', async () => {
  const chain = await growingChain()
  const job = jobOf(chain.url, tempFolder(), { keepRaw: true })
  await chain.advance(150)
  await export_(job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  await chain.advance(100)
  const asked = chain.asked.length
  await export_(job)
  expect(chain.asked.length - asked).toBeLessThanOrEqual(some.length * 2)
  await chain.advance(100)
  await export_(job)
  await expectSameAsFresh(job.output, job)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const more = {
    ...job,
    wallets: jobOf(chain.url, job.output, { addresses: truthWallets.slice(0, 14) }).wallets,
  }
  await export_(more)
  await expectSameAsFresh(job.output, more)
  await chain.end()
})

test.for([
  { what: 'chain', given: { chain: '1' } },
  { what: 'startBlock', given: { startBlock: 7 } },
  { what: 'format', given: { format: 'parquet', compression: 'zstd' } },
] as const)('a job with another $what is refused with what to do', async ({ what, given }) => {
  const chain = await growingChain()
  const output = tempFolder()
  await export_(jobOf(chain.url, output))
  const [result] = (await run([jobOf(chain.url, output, given)])).jobs
  expect(result?.error).toMatchObject({ code: 'OUTPUT_CHANGED', fix: expect.stringContaining('--fresh') })
  expect(result?.error?.message).toContain(what)
  await chain.end()
})

test('a run that is cut short at any request goes on to the same files', async () => {
  const chain = await growingChain()
  const job = jobOf(chain.url, tempFolder())
  await chain.advance(150)
  await export_(job)
  await chain.advance(150)
  for (let left = true; left; ) {
    const [result] = (await run([job], { maxRequests: 3 })).jobs
    left = result?.error?.code === 'BUDGET_REACHED'
  }
  await expectSameAsFresh(job.output, job)
  await chain.end()
})
