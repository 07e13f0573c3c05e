import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { baselineRun, faultyRun } from '../../helpers/faulty-run.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { testSample } from '../../helpers/test-sample.ts'

const quick = { options: { retry: { retries: 1, firstDelayMs: 1, maxDelayMs: 2 } } }
const page = (items: string) => `{"transactions":[${items}]}`

/** Small responses that would need gigabytes of memory, and the limit that rejects them. */
const BOMBS = [
  {
    what: '126,000 empty items',
    body: page(`${'{},'.repeat(125_999)}{}`),
    says: '126000 items, more than the limit of 10000',
  },
  {
    what: '6 million empty items',
    body: page(`${'{},'.repeat(5_999_999)}{}`),
    says: 'more than 2000000 values',
  },
  {
    what: 'arrays with 101 levels',
    body: page(`{"more":${'['.repeat(98)}${']'.repeat(98)}}`),
    says: 'deeper than 100 levels',
  },
  {
    what: '40 MB of blanks',
    body: ' '.repeat(40_000_000),
    says: 'larger than the limit of 33554432 bytes',
  },
  {
    what: 'arrays with a million levels',
    body: '['.repeat(1_000_000) + ']'.repeat(1_000_000),
    says: 'deeper than 100 levels',
  },
]

testSample(
  3,
  BOMBS,
  '$what end the run with a message about the limit, and the run can be resumed',
  async ({ body, says: limit }) => {
    const calm = await baselineRun()
    // The default quality takes seconds for the larger ones.
    const packed = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    const bomb = respondWith(200, packed, { 'content-encoding': 'br' })
    const { code, message, output } = await faultyRun(
      faultWhere(({ count }) => count > 2, bomb),
      quick,
    )
    expect([code, message]).toEqual(['PAGE_MALFORMED', expect.stringContaining(limit)])
    await faultyRun(undefined, { output })
    expect(outputBytes(output)).toEqual(calm.bytes)
  },
)

test('many such responses at once do not exhaust memory', { tags: ['long'] }, async () => {
  const bomb = respondWith(200, gzipSync(page(`${'[1],'.repeat(900_000)}1`)), { 'content-encoding': 'gzip' })
  const { code } = await faultyRun(
    faultWhere(() => true, bomb),
    { ...quick, concurrency: 64 },
  )
  expect(code).toBe('PAGE_MALFORMED')
  expect(process.memoryUsage().rss).toBeLessThan(1_500_000_000)
})
