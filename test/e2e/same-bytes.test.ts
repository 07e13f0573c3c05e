import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { runInSteps } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const service = createDataService()
const retry = { firstDelayMs: 1, maxDelayMs: 2 }
/** Seven wallets: two with several pages, one without transactions, and small ones. */
const addresses = [1, 23, 36, 38, 40, 41, 42].map((at) => demoWallets[at] ?? '')

beforeAll(async () => {
  await service.handle({ method: 'GET', url: '/v1/chains/43114/blocks/1/transactions', headers: {} })
})

async function calmRun(format: 'csv' | 'parquet', endBlock?: number) {
  const { url } = await startLoopback(service)
  const output = tempFolder()
  const job = testJob({ addresses, output, format, endBlock, ...at(url) })
  expect((await run([job])).code).toBeUndefined()
  return { bytes: outputBytes(output), url }
}

const at = (baseUrl: string) => ({
  service: { baseUrl },
})

testSample(
  1,
  ['csv', 'parquet'] as const,
  'writes the same %s bytes at any concurrency and wallet order',
  async (format) => {
    const calm = await calmRun(format, 421)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 64 }),
        fc.shuffledSubarray(addresses, { minLength: addresses.length }),
        async (concurrency, order) => {
          const output = tempFolder()
          await run([testJob({ addresses: order, output, format, concurrency, ...at(calm.url) })])
          expect(outputBytes(output)).toEqual(calm.bytes)
        },
      ),
      { numRuns: format === 'csv' ? 4 : 3 },
    )
  },
)

testSample(
  1,
  [
    { end: 'a fixed end', endBlock: 421 },
    { end: 'the head as its end', endBlock: undefined },
  ],
  'writes the same bytes if interrupted at every request, with $end',
  async ({ endBlock }) => {
    const calm = await calmRun('csv', endBlock)
    const output = tempFolder()
    const job = testJob({ addresses, output, endBlock, concurrency: 4, ...at(calm.url) })
    expect(await runInSteps(job, 1)).toBeGreaterThan(12)
    expect(outputBytes(output)).toEqual(calm.bytes)
  },
)

test('loses and duplicates nothing if any request is aborted', { tags: ['long'] }, async () => {
  const calm = await calmRun('csv', 421)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 }),
      async (cuts) => {
        const output = tempFolder()
        const job = testJob({ addresses, output, concurrency: 7, ...at(calm.url) })
        for (const maxRequests of cuts) {
          const stop = new AbortController()
          const stopper = { onDetail: () => stop.abort(new Error('stop')), signal: stop.signal }
          await run([job], { maxRequests: maxRequests + 1, ...stopper, retry })
        }
        await run([job], { retry })
        expect(outputBytes(output)).toEqual(calm.bytes)
      },
    ),
    { numRuns: 6 },
  )
})
