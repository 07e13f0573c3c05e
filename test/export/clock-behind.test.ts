import { expect, test } from 'vitest'
import { summarizeRun } from '../../src/export/history/run-report.ts'
import { run } from '../../src/export/run.ts'
import { summaryText } from '../../src/terminal/summary.ts'
import { testJob } from '../helpers/jobs.ts'
import { ALICE, startSmallListing, transfersTo } from '../helpers/small-listing.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const HOUR = 3_600_000

/** Runs a job over 30 transfers, two seconds apart, the newest of which is `aheadMs` newer than the clock. */
async function runAhead(aheadMs: number, given: { finalityMs?: number; endBlock?: number } = {}) {
  const startMs = Date.now() + aheadMs - 29 * 2_000
  const { url, requests } = await startSmallListing({ transfers: transfersTo(ALICE, 30, { startMs }) })
  const service = { baseUrl: url }
  const job = testJob({ addresses: [ALICE], output: tempFolder(), endBlock: undefined, service, ...given })
  const result = await run([job])
  const summary = summaryText(result.jobs, { now: Date.now(), programName: 'walletlake' })
  const [report] = summarizeRun(result).jobs
  return { code: result.code, state: result.jobs[0]?.state, summary, report, received: requests }
}

test('transactions newer than the clock are counted, and the run is incomplete', async () => {
  const { code, state, summary, report, received } = await runAhead(24 * HOUR)
  expect([code, state, received.length]).toEqual(['CLOCK_BEHIND', 'incomplete', 1])
  expect(summary).toContain("30 transactions newer than this machine's clock: left out")
  expect(summary).toMatch(/the clock appears to be behind by at least 2[34] h/)
  expect(summary).not.toContain('wrong address')
  expect(report).toMatchObject({
    exit: 6,
    state: 'incomplete',
    leftOut: { transactions: 30, newerThanClock: 30, clockBehindSeconds: expect.any(Number) },
  })
})

test('transactions older than the clock are exported even if others are newer', async () => {
  const { code, report } = await runAhead(29_000)
  expect(code).toBe('CLOCK_BEHIND')
  expect((report?.leftOut?.transactions ?? 0) + (report?.transactions ?? 0)).toBe(30)
  expect(report?.transactions).toBeGreaterThan(0)
})

test('transactions newer than the cutoff are counted, and the run is complete', async () => {
  const { code, state, summary, report } = await runAhead(-1_000, { finalityMs: HOUR })
  expect([code, state]).toEqual([undefined, 'complete'])
  expect(summary).toContain('30 transactions younger than finality (1 h 0 min): left for a later run')
  expect(report?.leftOut).toMatchObject({ transactions: 30, newerThanClock: 0, clockBehindSeconds: null })
})

test('a newest block a few seconds ahead does not mean that the clock is behind', async () => {
  const { code, report } = await runAhead(8_000)
  expect(code).toBeUndefined()
  expect(report?.leftOut?.newerThanClock).toBeGreaterThan(0)
})

test('a job with endBlock exports all transactions', async () => {
  const { code, report } = await runAhead(24 * HOUR, { endBlock: 1_030 })
  expect([code, report?.leftOut, report?.transactions]).toEqual([undefined, null, 30])
})
