import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { respondWith } from '../helpers/faults.ts'
import { addresses, baselineRun, service } from '../helpers/faulty-run.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, send, startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { shortQuota } from '../helpers/short-quota.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const retry = { firstDelayMs: 1, maxDelayMs: 2 }
const at = (baseUrl: string) => ({ baseUrl })

test('completes with the same bytes under a quota', async () => {
  const calm = await baselineRun()
  const { url, requests } = await startLoopback(createDataService(shortQuota()))
  const output = tempFolder()
  const { code, jobs } = await run(
    [testJob({ addresses, output, concurrency: 16, service: at(url), fees: 'listed' })],
    {
      retry,
    },
  )
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  const rateLimited = jobs[0]?.stats.rateLimited ?? 0
  expect(rateLimited).toBeGreaterThan(0)
  expect(requests.length).toBe(calm.requests + rateLimited)
})

/** Jobs with the same wallets and separate outputs. */
function jobsOf(url: string, concurrencies: readonly number[]) {
  return concurrencies.map((concurrency, nth) =>
    testJob({ name: `job-${nth}`, addresses, output: tempFolder(), concurrency, service: at(url) }),
  )
}

const LATENCY_MS = 5

/** Responds normally, with a latency so that requests overlap, and counts concurrent requests. */
function countOpen(): { fault: Fault; most: () => number } {
  let [open, most] = [0, 0]
  const fault: Fault = () => {
    open += 1
    most = Math.max(most, open)
    return async (response, answer) => {
      await new Promise((resolve) => setTimeout(resolve, LATENCY_MS))
      open -= 1
      send(response, answer)
    }
  }
  return { fault, most: () => most }
}

test('shares the concurrency of the largest job among all', { tags: ['long'] }, async () => {
  const calm = await baselineRun()
  const { fault, most } = countOpen()
  const { url } = await startLoopback(service, fault)
  const jobs = jobsOf(url, [1, 3, 2])
  expect((await run(jobs, { retry })).code).toBeUndefined()
  for (const { output } of jobs) expect(Object.keys(outputBytes(output))).toEqual(Object.keys(calm.bytes))
  expect(most()).toBe(3)
})

testSample(
  2,
  [429, 503, 500, 502],
  'pauses every job if one receives a %i with Retry-After',
  async (status) => {
    let pauseEnds = 0
    const { url, requests } = await startLoopback(service, ({ count }) => {
      if (count === 1) pauseEnds = performance.now() + 900
      return performance.now() < pauseEnds ? failure : undefined
    })
    const failure: ReturnType<Fault> = (response, answer) => {
      respondWith(status, '', { 'retry-after': '1' })(response, answer, requests[0] as (typeof requests)[0])
    }
    const { code, jobs } = await run(jobsOf(url, [3, 3, 3, 3]), { retry })
    expect(code).toBeUndefined()
    const failed = jobs.reduce((sum, { stats }) => sum + stats.rateLimited + stats.retries, 0)
    expect(failed).toBeGreaterThan(0)
    expect(failed).toBeLessThanOrEqual(3)
  },
)
