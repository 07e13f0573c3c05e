import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { baselineBytes, blocksRun, requestsFor } from '../helpers/blocks-run.ts'
import { faultWhere, respondWith } from '../helpers/faults.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { shortQuota } from '../helpers/short-quota.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Number of requests of an uninterrupted run. */
const REQUESTS = requestsFor()

test('writes the same bytes after repeated interruptions', { tags: ['long'] }, async () => {
  const calm = await baselineBytes()
  const output = tempFolder()
  let [code, received, starts] = ['BUDGET_REACHED' as string | undefined, 0, 0]
  for (; code === 'BUDGET_REACHED' && starts < 40; starts += 1) {
    const result = await blocksRun(undefined, { job: { output }, options: { maxRequests: 10 } })
    code = result.code
    received += result.requests.length
  }
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm)
  expect(starts).toBeGreaterThan(9)
  expect(received).toBe(REQUESTS)
})

test('resumes with one request at a time, even within a block', async () => {
  const output = tempFolder()
  let code: string | undefined = 'BUDGET_REACHED'
  let starts = 0
  for (; code === 'BUDGET_REACHED' && starts < 40; starts += 1) {
    const range = { startBlock: 230, endBlock: 240 }
    code = (await blocksRun(undefined, { job: { output, ...range }, options: { maxRequests: 1 } })).code
  }
  expect(code).toBeUndefined()
  expect(starts).toBe(requestsFor({ startBlock: 230, endBlock: 240 }))
})

test('loses and duplicates nothing if any request is aborted', { tags: ['long'] }, async () => {
  const calm = await baselineBytes()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 4 }),
      async (cuts) => {
        const output = tempFolder()
        for (const cut of cuts) {
          const stop = new AbortController()
          const abort = faultWhere(
            ({ count }) => count >= cut,
            () => stop.abort(new Error('stop')),
          )
          await blocksRun(abort, { job: { output, concurrency: 7 }, options: { signal: stop.signal } })
        }
        const { code } = await blocksRun(undefined, { job: { output } })
        expect(code).toBeUndefined()
        expect(outputBytes(output)).toEqual(calm)
      },
    ),
    { numRuns: 5 },
  )
})

const FEW = { startBlock: 0, endBlock: 24 }

test('completes with the same bytes under a quota', { tags: ['long'] }, async () => {
  const service = createDataService(shortQuota())
  const calm = await blocksRun(undefined, { job: FEW })
  const { output, code, jobs, requests } = await blocksRun(undefined, {
    service,
    job: { ...FEW, concurrency: 32 },
  })
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(outputBytes(calm.output))
  const rateLimited = jobs[0]?.stats.rateLimited ?? 0
  expect(rateLimited).toBeGreaterThan(0)
  expect(requests.length).toBe(calm.requests.length + rateLimited)
})

test('leaves no trace of errors if a retry succeeds', async () => {
  const failed = new Set<string>()
  const faults = faultWhere(
    ({ path, query, count }) => count % 3 !== 0 && !failed.has(`${path}?${query}`),
    (response, answer, received) => {
      failed.add(`${received.path}?${received.query}`)
      const broken = [respondWith(503, ''), respondWith(200, '{'), respondWith(200, '{"transactions":{}}')][
        received.count % 3
      ]
      return broken?.(response, answer, received)
    },
  )
  const { output, code, requests } = await blocksRun(faults)
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
  expect(requests).toHaveLength(REQUESTS + failed.size)
})

test('ends the run if a block remains unreadable, and resumes later', async () => {
  const stays = faultWhere(({ path }) => path.includes('/blocks/237/'), respondWith(500, ''))
  const first = await blocksRun(stays, { options: { retry: { retries: 1, firstDelayMs: 1 } } })
  expect(first.code).toBe('SERVICE_UNAVAILABLE')
  expect(first.message).toContain('block 237: the service answered 500')
  const later = await blocksRun(undefined, { job: { output: first.output } })
  expect(later.code).toBeUndefined()
  expect(outputBytes(first.output)).toEqual(await baselineBytes())
  expect(first.requests.length + later.requests.length).toBeLessThan(REQUESTS + 32)
})

test('refuses to resume from pages of wallets', async () => {
  const output = tempFolder()
  await blocksRun(undefined, { job: { output }, options: { maxRequests: 5 } })
  const { code, message } = await blocksRun(undefined, { job: { output, kind: 'wallets' } })
  expect(code).toBe('OUTPUT_CHANGED')
  expect(message).toContain('kind was blocks and is wallets')
})
