import { expect, test } from 'vitest'
import type { Manifest } from '../../src/core/model/manifest.ts'
import { costOf, estimateRun, feeRequestsOf } from '../../src/export/estimate.ts'
import type { PastRun } from '../../src/export/history/past-runs.ts'
import type { JobState } from '../../src/export/inspect-output.ts'
import { blocksJob, testJob } from '../helpers/jobs.ts'

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
const open = testJob({ addresses: [A, B], startBlock: 0, endBlock: undefined })
const ended = testJob({ addresses: [A, B], startBlock: 0, endBlock: 100 })

type Remaining = JobState['wallets'][number]['remaining']

function stateOf(remaining: Record<string, Remaining>, given: Partial<JobState> = {}): JobState {
  const wallets = Object.entries(remaining).map(([address, ranges]) => ({
    address,
    label: null,
    remaining: ranges,
  }))
  const nothing = {
    pages: 0,
    items: 0,
    head: undefined,
    blocks: [],
    manifest: undefined,
    store: { size: async () => undefined },
  }
  return { state: 'not begun', ...nothing, wallets, ...given }
}

function runOf(given: Partial<PastRun>): PastRun {
  const base = { run: 'r', state: 'complete', error: null, startedAt: '2025-01-01T00:00:00Z', chain: '43114' }
  return { ...base, seconds: 2, wallets: 2, requests: 40, transactions: 4_000, fromBlock: 0, ...given }
}

/** Two wallets with 2,000 transactions each, in a file of 400,000 bytes. */
const manifest = {
  job: { startBlock: 0 },
  coverage: [A, B].map((address) => ({ address, fromBlock: 0, toBlock: 100, transactions: 2_000 })),
  tables: { transactions: { rows: 4_000, files: [{ bytes: 400_000 }] } },
} as unknown as Manifest

const toHead = (from: number): Remaining => [{ from, to: undefined }]

test('before the first run, only the minimum of one request per wallet is known', () => {
  const estimate = estimateRun(open, stateOf({ [A]: toHead(0), [B]: toHead(0) }), [])
  expect(estimate).toEqual({
    minRequests: 2,
    internals: 0,
    requests: undefined,
    perSecond: undefined,
    seconds: undefined,
    bytesPerTransaction: undefined,
    bytes: undefined,
  })
})

test('a run that starts over takes as much as the exported history of each wallet', () => {
  const coverage = manifest.coverage.map((wallet, at) => ({ ...wallet, transactions: [150, 20][at] ?? 0 }))
  const exported = { ...manifest, coverage }
  const state = stateOf({ [A]: toHead(0), [B]: toHead(0), [C]: toHead(0) }, { manifest: exported })
  const { minRequests, requests, bytes } = estimateRun(open, state, [runOf({ fromBlock: 90 })])
  // The wallet that is new counts as the mean of 85 transactions.
  expect({ minRequests, requests }).toEqual({ minRequests: 3, requests: 2 + 1 + 1 })
  expect(bytes).toBeCloseTo((400_000 / 170) * (150 + 20 + 85))
})

test('with the listing of internal transactions, each wallet takes another request', () => {
  const full = testJob({ addresses: [A, B], endBlock: undefined, internals: 'full' })
  const begun = stateOf({ [A]: toHead(0), [B]: toHead(0) })
  expect(estimateRun(full, begun, [])).toMatchObject({ minRequests: 4 })
  const added = stateOf({ [A]: [], [B]: [], [C]: toHead(0) }, { state: 'complete', manifest })
  const requests = [open, full].map(
    (job) => estimateRun(job, added, [runOf({ fromBlock: 50 })]).requests ?? 0,
  )
  expect(requests[1]).toBe((requests[0] ?? 0) + 1)
})

test('of an unfinished run, the remaining ranges take another request each', () => {
  const state = { state: 'unfinished' as const, pages: 30, items: 3_000 }
  const half = stateOf({ [A]: [], [B]: [{ from: 0, to: 100 }] }, state)
  const full = { ...ended, internals: 'full' as const }
  const [listing, both] = [ended, full].map((job) => estimateRun(job, half, []))
  expect(listing).toMatchObject({ minRequests: 1, internals: 0, requests: 31 })
  expect(both).toMatchObject({ minRequests: 2, internals: 1, requests: 32 })
})

test('compute units count requests for internal transactions at their own cost', () => {
  const service = { ...ended.service, computeUnits: { listing: 10, internals: 50 } }
  const estimate = { ...estimateRun(ended, stateOf({}), []), minRequests: 4, internals: 2, requests: 9 }
  expect(costOf({ ...ended, service }, { ...estimate, maxRequests: 11 })).toMatchObject({
    minUnits: 2 * 10 + 2 * 50,
    units: 7 * 10 + 2 * 50,
    maxUnits: 9 * 10 + 2 * 50,
  })
})

test('a complete job takes no requests', () => {
  const state = stateOf({ [A]: [], [B]: [] }, { state: 'complete', manifest })
  expect(estimateRun(ended, state, [])).toMatchObject({ minRequests: 0, requests: 0, bytes: 0 })
})

test('the remaining blocks are estimated from the requests per block so far', () => {
  const remaining = { [A]: [{ from: 0, to: 50 }], [B]: [] }
  const stored = { state: 'unfinished', pages: 30, items: 3_000, manifest } as const
  const estimate = estimateRun(ended, stateOf(remaining, stored), [runOf({ seconds: 2, requests: 20 })])
  expect(estimate).toMatchObject({
    minRequests: 1,
    requests: 11,
    perSecond: 10,
    seconds: 1.1,
    bytesPerTransaction: 100,
  })
  expect(estimate.bytes).toBe(100_000)
})

test('an endBlock takes one more request unless a page contains its last block', () => {
  const remaining = { [A]: [{ from: 0, to: 50 }], [B]: [] }
  const stored = { state: 'unfinished', pages: 30, items: 3_000 } as const
  expect(estimateRun(ended, stateOf(remaining, { ...stored, head: 98 }), []).requests).toBe(11)
  expect(estimateRun(ended, stateOf(remaining, { ...stored, head: 99 }), []).requests).toBe(10)
})

test('without endBlock, the highest received block is used as the end', () => {
  const remaining = { [A]: [{ from: 0, to: 50 }], [B]: toHead(100) }
  const stored = { state: 'unfinished', pages: 30, items: 3_000, head: 99 } as const
  expect(estimateRun(open, stateOf(remaining, stored), [])).toMatchObject({
    minRequests: 2,
    requests: 10,
    maxRequests: 40,
  })
  expect(estimateRun(open, stateOf(remaining, { ...stored, head: undefined }), []).requests).toBeUndefined()
})

test('an incremental run is estimated from the last incremental run, not from the first run', () => {
  const state = stateOf({ [A]: toHead(100), [B]: toHead(100) }, { state: 'exported', manifest })
  const first = runOf({ requests: 400 })
  expect(estimateRun(open, state, [first]).requests).toBeUndefined()
  const failed = runOf({ error: { code: 'SERVICE_UNAVAILABLE' }, fromBlock: null })
  const incremental = runOf({ requests: 6, transactions: 50, fromBlock: 90, seconds: 3 })
  expect(estimateRun(open, state, [failed, incremental, first])).toMatchObject({
    minRequests: 2,
    requests: 6,
    bytes: 5_000,
  })
  const idle = runOf({ state: 'unchanged', requests: 2, transactions: 0, fromBlock: null })
  expect(estimateRun(open, state, [idle, incremental, first])).toMatchObject({ requests: 2, bytes: 0 })
})

test('a new wallet is estimated from the complete history of the others', () => {
  const state = stateOf({ [A]: [], [B]: [], [C]: toHead(0) }, { state: 'exported', manifest })
  expect(estimateRun(open, state, [])).toMatchObject({ minRequests: 1, requests: 21, bytes: 200_000 })
})

test('a block takes at least one request', () => {
  const state = stateOf({}, { state: 'unfinished', pages: 10, items: 50, blocks: [{ from: 10, to: 30 }] })
  expect(estimateRun(blocksJob(), state, [])).toMatchObject({ minRequests: 20, requests: 20 })
})

test('an explorer takes a request of each of its five listings, and none for fees', () => {
  const service = { baseUrl: 'demo', apiKeyHeader: 'x', timeoutMs: 1_000, api: 'etherscan' as const }
  const job = testJob({ addresses: [A, B], service })
  const range = [{ from: 0, to: 100 }]
  expect(estimateRun(job, stateOf({ [A]: range, [B]: range }), [])).toMatchObject({ minRequests: 10 })
  expect([feeRequestsOf(job), feeRequestsOf(ended)]).toEqual([undefined, expect.anything()])
})
