import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import {
  ALL_BLOCKS,
  baselineBytes,
  blockOf,
  blocksRun,
  expectVerified,
  requestsFor,
} from '../helpers/blocks-run.ts'
import { faultWhere, respondWith } from '../helpers/faults.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const notFound = respondWith(404, '{"message":"no such block"}')
const withoutBlocks = (blocks: readonly number[]) =>
  faultWhere((request) => blocks.includes(blockOf(request)), notFound)

test('exports the available blocks, names the missing ones and exits with 6', async () => {
  const { code, output, jobs, notices } = await blocksRun(withoutBlocks([237, 240, 241]))
  expect(code).toBe('BLOCKS_MISSING')
  expect(jobs[0]).toMatchObject({
    state: 'incomplete',
    stats: {
      missing: [
        { from: 237, to: 238 },
        { from: 240, to: 242 },
      ],
    },
  })
  expect(notices.filter((notice) => notice.includes('is not there (404)'))).toHaveLength(1)
  expect(readManifest(output).blocks?.missing).toEqual([
    { fromBlock: 237, toBlock: 238 },
    { fromBlock: 240, toBlock: 242 },
  ])
  const blocks = new Set((await readCsvTable(output, 'transactions')).map((row) => row.block_number))
  for (const block of ['237', '240', '241']) expect(blocks).not.toContain(block)
  expect(blocks).toContain('236')
  await expectVerified(output)
})

test('requests only the missing blocks in a later run and then equals a complete export', async () => {
  const { output } = await blocksRun(withoutBlocks([237, 240, 241]))
  const later = await blocksRun(undefined, { job: { output } })
  expect(later.code).toBeUndefined()
  expect(later.requests.map(blockOf).sort((a, b) => a - b)).toEqual([237, 237, 237, 240, 241])
  expect(outputBytes(output)).toEqual(await baselineBytes())
  expect((await blocksRun(undefined, { job: { output } })).jobs[0]?.state).toBe('unchanged')
})

test('writes the same bytes with missing blocks, interrupted or not', { tags: ['long'] }, async () => {
  const holes = withoutBlocks([200, 207, 208, 299])
  const calm = outputBytes((await blocksRun(holes)).output)
  const output = tempFolder()
  let code: string | undefined = 'BUDGET_REACHED'
  for (let starts = 0; code === 'BUDGET_REACHED' && starts < 20; starts += 1)
    code = (await blocksRun(holes, { job: { output, concurrency: 3 }, options: { maxRequests: 20 } })).code
  expect(code).toBe('BLOCKS_MISSING')
  expect(outputBytes(output)).toEqual(calm)
})

test('reports at once that the range ends beyond the head, and fetches later blocks in a later run', async () => {
  let head = 250
  const service = createDataService({ head: () => head })
  const first = await blocksRun(undefined, { service })
  expect(first.code).toBe('BLOCKS_MISSING')
  expect(first.notices[0]).toContain(
    "block 299 is not there (404); it is the last requested block, so endBlock may be beyond the chain's head",
  )
  expect(readManifest(first.output).blocks?.missing).toEqual([{ fromBlock: 251, toBlock: 300 }])
  expect((await verifyOutput(first.output)).missingBlocks).toEqual([{ from: 251, to: 300 }])
  head = 420
  const later = await blocksRun(undefined, { service, job: { output: first.output } })
  expect(later.code).toBeUndefined()
  expect(outputBytes(first.output)).toEqual(await baselineBytes())
})

test.for([
  { what: 'an unknown chain', job: { chain: '5' } },
  { what: 'a range beyond the head', job: { startBlock: 1_000, endBlock: 1_020 } },
])('fails for $what instead of exporting nothing', async ({ job }) => {
  const { code, message, requests, output } = await blocksRun(undefined, { job })
  expect(code).toBe('REQUEST_REFUSED')
  expect(message).toMatch(
    /^none of the \d+ requested blocks exists on chain \w+: block \d+: the service answered 404/,
  )
  expect(requests.length).toBeLessThan(120)
  expect(Object.keys(outputBytes(output))).toEqual([])
})

test('does not report blocks as missing that it requested before they existed', async () => {
  let head = 100
  const service = createDataService({ head: () => head })
  const first = await blocksRun(undefined, { service })
  expect(first.code).toBe('REQUEST_REFUSED')
  head = 420
  const later = await blocksRun(undefined, { service, job: { output: first.output } })
  expect(later.code).toBeUndefined()
  expect(later.requests).toHaveLength(requestsFor())
  expect(outputBytes(first.output)).toEqual(await baselineBytes())
})

test('exports a block whose response arrives late, although other blocks are missing', {
  tags: ['long'],
}, async () => {
  const found = 99
  const holes = faultWhere((request) => blockOf(request) < found || blockOf(request) > 300, notFound)
  const late = faultWhere(
    (request) => blockOf(request) === found,
    async (response, answer) => {
      await new Promise((resolve) => setImmediate(resolve))
      response.writeHead(answer.status, answer.headers).end(answer.body)
    },
  )
  const { code, output } = await blocksRun((request) => holes(request) ?? late(request), {
    job: { ...ALL_BLOCKS, concurrency: 200 },
  })
  expect(code).toBe('BLOCKS_MISSING')
  expect(readManifest(output).blocks?.missing).toEqual([
    { fromBlock: 0, toBlock: 99 },
    { fromBlock: 301, toBlock: 421 },
  ])
})

test('does not treat a 404 for a later page of a block as a missing block', async () => {
  let refused = 0
  const once = faultWhere(
    ({ query }) => query.has('pageToken') && refused === 0,
    (response, answer, request) => {
      refused += 1
      return notFound(response, answer, request)
    },
  )
  const { code, output } = await blocksRun(once)
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
})
