import { expect, test } from 'vitest'
import { FAULT_KINDS } from '../../helpers/fault-kinds.ts'
import { respondWith } from '../../helpers/faults.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'
import {
  baselineBytes,
  baselineRequests,
  CONCURRENCY,
  randomFaults,
  seededRun,
} from '../../helpers/seeded-run.ts'

const SEEDS = [1, 2, 3]

test('there are more than sixty different kinds of faults', () => {
  expect(new Set(FAULT_KINDS.map(({ what }) => what)).size).toBe(FAULT_KINDS.length)
  expect(FAULT_KINDS.length).toBeGreaterThan(60)
})

test.for(FAULT_KINDS)('$what at random requests leaves no trace', async (kind) => {
  const calm = await baselineBytes()
  const { timeoutMs = 5_000 } = kind
  const runs = SEEDS.map(async (seed) => {
    const { fault, count } = randomFaults([kind], {
      random: createSeededRandom(seed),
      probability: 0.3,
      maxPerRequest: 2,
    })
    const { code, output, message } = await seededRun({ fault, timeoutMs })
    expect([seed, code, message]).toEqual([seed, undefined, ''])
    expect(outputBytes(output)).toEqual(calm)
    expect(count()).toBeGreaterThan(0)
  })
  await Promise.all(runs)
})

/** Faults that end a run if they occur twice for one request. */
const HARD = FAULT_KINDS.filter(({ timeoutMs, what }) => timeoutMs === undefined && !what.startsWith('429'))
const SHARE = 0.75

test.for([4, 5, 6, 7])('frequent faults of all kinds end with the same bytes (seed %i)', async (seed) => {
  const random = createSeededRandom(seed)
  const faultOf = (probability: number) =>
    randomFaults(HARD, { random, probability, maxPerRequest: Number.POSITIVE_INFINITY }).fault
  const options = { retry: { retries: 1, firstDelayMs: 1, maxDelayMs: 2 } }
  // Which requests fail depends on their order, so in the first run all of them fail.
  const first = await seededRun({ fault: faultOf(1), options })
  const fault = faultOf(SHARE)
  const codes = [first.code]
  while (codes.at(-1) !== undefined && codes.length < 200)
    codes.push((await seededRun({ fault, options, output: first.output })).code)
  expect(codes.at(-1)).toBeUndefined()
  expect(outputBytes(first.output)).toEqual(await baselineBytes())
  const failures = new Set(codes.slice(0, -1))
  expect(['SERVICE_UNAVAILABLE', 'PAGE_MALFORMED']).toEqual(expect.arrayContaining([...failures]))
  expect(failures.size).toBeGreaterThan(0)
})

const briefly = { retry: { retries: 2, firstDelayMs: 1, maxDelayMs: 2 } }

test.for([1, 3, 6])('a run resumes after the service went down after %i requests', async (good) => {
  const stopped = await seededRun({
    fault: ({ count }) => (count <= good ? undefined : (response) => void response.socket?.resetAndDestroy()),
    options: briefly,
  })
  expect(stopped.code).toBe('SERVICE_UNAVAILABLE')
  const resumed = await seededRun({ output: stopped.output })
  expect(resumed.code).toBeUndefined()
  expect(outputBytes(stopped.output)).toEqual(await baselineBytes())
  expect(good + resumed.requestLog.length).toBeLessThanOrEqual((await baselineRequests()) + 2 * CONCURRENCY)
})

test.for([
  { what: 'has an unknown host', url: `http://${'x'.repeat(64)}.invalid`, says: 'ENOTFOUND' },
  { what: 'refuses connections', url: 'http://127.0.0.1:1', says: 'ECONNREFUSED' },
])('a service that $what ends the run as unavailable and resumable', async ({ url, says }) => {
  const { code, output, message } = await seededRun({ url, options: briefly })
  expect([code, message]).toEqual(['SERVICE_UNAVAILABLE', expect.stringContaining(says)])
  expect((await seededRun({ output })).code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
})

test('waits for a series of 429s', async () => {
  const refusal = respondWith(429, '', { 'retry-after': '0' })
  const { code, output, stats } = await seededRun({
    fault: (received) =>
      received.count <= 4 ? (response, answer) => void refusal(response, answer, received) : undefined,
  })
  expect([code, stats?.rateLimited]).toEqual([undefined, 4])
  expect(outputBytes(output)).toEqual(await baselineBytes())
})
