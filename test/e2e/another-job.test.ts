import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  expectSameAsFresh,
  fetchToFolder,
  growingChain,
  headJob,
  inNewFolder,
  rowsIn,
  runOnce,
  withStore,
} from '../helpers/growing-chain.ts'
import { blocksJob, testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Creates a finished export of the blocks up to 200. */
async function exported(given: Partial<Job> & { count?: number } = {}) {
  const { url } = await startLoopback(createDataService())
  const service = { baseUrl: url }
  const { count = 4, ...fields } = given
  const addresses = smallWallets.slice(0, count)
  const job = withStore(testJob({ addresses, endBlock: 200, output: tempFolder(), service, ...fields }))
  await runOnce(job)
  return { job, withWallets: (first: number, end: number) => walletsOf(job, first, end) }
}

function walletsOf(job: Job, first: number, end: number): Job {
  return { ...job, wallets: testJob({ addresses: smallWallets.slice(first, end) }).wallets }
}

test.for([
  { what: 'chain was 43114 and is 1', given: { chain: '1' } },
  { what: 'startBlock was 0 and is 7', given: { startBlock: 7 } },
  { what: 'endBlock was 200 and is 300', given: { endBlock: 300 } },
  { what: 'endBlock was 200 and is the head', given: { endBlock: undefined } },
  { what: 'format was csv and is parquet', given: { format: 'parquet', compression: 'zstd' } },
  { what: 'partitionBy was none and is day', given: { partitionBy: 'day' } },
  { what: 'tables had transactions', given: { tables: ['ledger'] } },
] as const)('rejects an export of another job without changing it: $what', async ({ what, given }) => {
  const { job } = await exported()
  const bytes = outputBytes(job.output)
  const [result] = (await run([{ ...job, ...given }])).jobs
  expect(result?.error).toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining(what),
    fix: 'Choose another --output, or start over with --fresh.',
  })
  await fetchToFolder(job)
  expect(outputBytes(job.output)).toEqual(bytes)
  const [fresh] = (await run([{ ...job, ...given }], { fresh: true })).jobs
  if (given !== undefined && !('chain' in given)) expect(fresh?.error).toBeUndefined()
})

test('a block job does not replace a wallet export', async () => {
  const { job } = await exported()
  const { service, output, store } = job
  const [result] = (await run([{ ...blocksJob({ endBlock: 200, service, output }), store }])).jobs
  expect(result?.error?.message).toContain('kind was wallets and is blocks')
})

test('a job with added and removed wallets continues an export that has an end', async () => {
  const { job, withWallets } = await exported()
  const more = withWallets(1, 6)
  await runOnce(more)
  const all = walletsOf(inNewFolder(job), 0, 6)
  await runOnce(all)
  expect(await rowsIn(job.output)).toEqual(await rowsIn(all.output))
  const left = readManifest(job.output).coverage.filter(({ removed }) => removed)
  expect(left).toMatchObject([{ address: smallWallets[0], toBlock: 200 }])
  await expectValid(job.output)
  expect((await runOnce(more))?.state).toBe('unchanged')
})

test('a run that was interrupted after --fresh resumes without it', { tags: ['long'] }, async () => {
  const { job } = await exported()
  const other: Job = { ...job, tables: ['ledger'], partitionBy: 'blocks:50' }
  expect((await run([other], { fresh: true, maxRequests: 3 })).code).toBe('BUDGET_REACHED')
  await runOnce(other)
  const fresh = inNewFolder(other)
  await runOnce(fresh)
  expect(outputBytes(other.output)).toEqual(outputBytes(fresh.output))
})

test('a run without any page does not constrain the next one', { tags: ['long'] }, async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url)
  const wrong = await run([{ ...job, chain: '99999' }])
  expect(wrong.code).toBe('REQUEST_REFUSED')
  await runOnce(job)
  await expectSameAsFresh(job)
})

test('a finished export with another end is not reported as unfinished', async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url)
  await runOnce(job)
  const [result] = (await run([{ ...job, endBlock: 10 }])).jobs
  expect(result?.error).toMatchObject({
    message: 'the output contains an export of another job: endBlock was the head and is 10',
    fix: 'Choose another --output, or start over with --fresh.',
  })
})

test('reports no missing pages after a first run that found nothing', { tags: ['long'] }, async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { startBlock: 100 })
  await runOnce(job)
  const notices: string[] = []
  const onNotice = (notice: string) => notices.push(notice)
  expect((await runOnce(job, { onNotice }))?.state).toBe('unchanged')
  await chain.advance(100)
  await runOnce(job, { onNotice })
  expect(notices.filter((notice) => notice.includes('gone'))).toEqual([])
  await expectSameAsFresh(job)
})
