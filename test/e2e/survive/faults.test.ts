import { expect, test } from 'vitest'
import { FAULT_KINDS } from '../../helpers/fault-kinds.ts'
import { respondWith } from '../../helpers/faults.ts'
import { faultyRun } from '../../helpers/faulty-run.ts'
import type { Fault } from '../../helpers/loopback.ts'
import { demoWallets, smallWallets } from '../../helpers/node-data.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'
import { createSeededRandom } from '../../helpers/seeded-random.ts'
import {
  baselineBytes,
  baselineRequests,
  CONCURRENCY,
  randomFaults,
  seededRun,
} from '../../helpers/seeded-run.ts'

/** Seeds of each kind; more with this variable. */
const SEEDS = Array.from({ length: Number(process.env.SOAK_SEEDS ?? 1) }, (_, at) => at + 1)

test('there are more than sixty different kinds of faults', () => {
  expect(new Set(FAULT_KINDS.map(({ what }) => what)).size).toBe(FAULT_KINDS.length)
  expect(FAULT_KINDS.length).toBeGreaterThan(60)
})

/** Retries without end: on a busy machine, responses without a fault may time out too. */
const ENDLESS = { retry: { retries: 1_000, firstDelayMs: 1, maxDelayMs: 2 } }

/** Enough pages for all kinds of faults. */
const wallets = [...smallWallets, ...demoWallets.slice(2, 6)]

test('every kind of fault, one after the other, leaves no trace', async () => {
  const { output: calm } = await faultyRun(undefined, { wallets })
  // Responses that are late are tested on their own, with a short timeout.
  const waiting = new Set(FAULT_KINDS.filter(({ timeoutMs }) => timeoutMs === undefined))
  const faultsOf = new Map<string, number>()
  const { code, output, message } = await faultyRun(
    (received) => {
      const request = `${received.path}?${received.query}`
      const earlierFaults = faultsOf.get(request) ?? 0
      const kind = [...waiting].find(({ where }) => where?.(received) !== false)
      if (kind === undefined || earlierFaults === 4) return undefined
      waiting.delete(kind)
      faultsOf.set(request, earlierFaults + 1)
      return async (response, original) => void (await kind.respond(response, original, received))
    },
    { wallets, options: ENDLESS },
  )
  expect([code, message]).toEqual([undefined, ''])
  expect([...waiting]).toEqual([])
  expect(outputBytes(output)).toEqual(outputBytes(calm))
})

test.for(FAULT_KINDS)('$what at random requests leaves no trace', { tags: ['long'] }, async (kind) => {
  const calm = await baselineBytes()
  const runs = SEEDS.map(async (seed) => {
    const { fault, count } = randomFaults([kind], {
      random: createSeededRandom(seed),
      probability: 0.3,
      maxPerRequest: 2,
    })
    const { code, output, message } = await seededRun({ fault, timeoutMs: kind.timeoutMs, options: ENDLESS })
    expect([seed, code, message]).toEqual([seed, undefined, ''])
    expect(outputBytes(output)).toEqual(calm)
    return count()
  })
  const faults = await Promise.all(runs)
  expect(Math.max(...faults)).toBeGreaterThan(0)
})

/** Faults that end a run if they occur twice for one request. */
const HARD = FAULT_KINDS.filter(({ timeoutMs, what }) => timeoutMs === undefined && !what.startsWith('429'))
const SHARE = 0.75

test.for([4, 5])(
  'frequent faults of all kinds end with the same bytes (seed %i)',
  { tags: ['long'] },
  async (seed) => {
    const random = createSeededRandom(seed)
    // A run whose probe of the details of transactions keeps failing uses the listed fees.
    const faultOf = (probability: number): Fault => {
      const rate = { random, probability, maxPerRequest: Number.POSITIVE_INFINITY }
      const { fault } = randomFaults(HARD, rate)
      return (received) => (received.path.includes('/addresses/') ? fault(received) : undefined)
    }
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
  },
)

const briefly = { retry: { retries: 2, firstDelayMs: 1, maxDelayMs: 2 } }

test.for([3])('a run resumes after the service went down after %i requests', async (good) => {
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
      received.count <= 5 ? (response, answer) => void refusal(response, answer, received) : undefined,
  })
  expect([code, stats?.rateLimited]).toEqual([undefined, 4])
  expect(outputBytes(output)).toEqual(await baselineBytes())
})
