import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readQuotaState, sharedQuotaOn } from '../../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { noRedis, startTestServer, type TestServer } from '../../helpers/shared-servers.ts'

const QUOTA = 'damaged'
const [FIELDS, SENT_TIMES] = [`{${QUOTA}}`, `{${QUOTA}}:departures`]
const NAMES = [
  ...['base', 'doubling', 'risen', 'best', 'slot', 'pause', 'stretch', 'since', 'left', 'refused', 'last'],
  ...['lastAt', 'trip', 'rested', 'droughts', 'stride', 'isFull', 'newest', 'firstAt'],
]
const VALUES = ['inf', '-inf', 'nan', '-nan', '1e400', '-1', '1e300', 'much', '']
const EARLIER = [
  ...['no JSON', '7', '[7]', '[{}]', '[{"marks":7,"stride":1,"grants":1,"last":1}]'],
  ...['[{"marks":["1"],"stride":1,"grants":1,"last":1}]', '[{"marks":[1],"stride":0,"grants":1,"last":1}]'],
  ...[
    '[{"marks":[NaN],"stride":1,"grants":1,"last":1}]',
    '[{"marks":[1],"stride":1,"grants":Infinity,"last":1}]',
  ],
]

describe.skipIf(noRedis)('a damaged rate-limit state', () => {
  let server: TestServer
  let redis: Redis
  beforeAll(async () => {
    server = await startTestServer()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  beforeEach(() => server.flush())

  const sharedState = () => server.book(QUOTA)

  /** Has the quota learn a rate from a 429. */
  async function learn() {
    const quota = sharedQuotaOn(sharedState())
    const { permits } = await quota.reserve(3)
    expect(permits.length).toBeGreaterThan(0)
    await quota.pause({ permit: permits.at(-1), waitMs: 1 })
    for (let received = 0; received < 1_000 && (await quota.reserve(1)).permits.length === 0; received += 1);
    expect((await readQuotaState(sharedState())).perSecond).toBeGreaterThan(0)
  }

  /** Expects that a request may be sent soon, at a plausible rate. */
  async function expectUsable() {
    const { pausedMs } = await readQuotaState(sharedState())
    const { permits, nextRequestMs } = await sharedQuotaOn(sharedState()).reserve(4)
    for (const { delayMs, at } of permits) {
      expect(delayMs).toBeLessThan(1_000)
      expect(Number.isFinite(at)).toBe(true)
    }
    expect(pausedMs + nextRequestMs).toBeLessThan(86_400_000)
    expect((await readQuotaState(sharedState())).perSecond ?? 1).toBeLessThanOrEqual(1_000_000)
    const stored = await redis.hgetall(FIELDS)
    for (const name of NAMES) expect([name, Number.isFinite(Number(stored[name]))]).toEqual([name, true])
  }

  test.for(NAMES)('is usable with any value of %s', async (name) => {
    for (const value of VALUES) {
      await server.flush()
      await learn()
      await redis.hset(FIELDS, name, value)
      await expectUsable()
      await sharedQuotaOn(sharedState()).pause({
        permit: { delayMs: 0, window: 0, sequence: 1, at: 1 },
        waitMs: undefined,
      })
      await expectUsable()
    }
  })

  test.for(EARLIER)('is usable with any earlier windows: %s', async (previous) => {
    await learn()
    await redis.hset(FIELDS, 'earlier', previous)
    await expectUsable()
  })

  test('is usable with any send times', async () => {
    for (const value of ['much', 'nan', 'inf', '']) {
      await server.flush()
      await learn()
      await redis.rpush(SENT_TIMES, value)
      await sharedQuotaOn(sharedState()).pause({ permit: undefined, waitMs: undefined })
      await expectUsable()
    }
    await redis.rpush(SENT_TIMES, ...Array.from({ length: 20_000 }, () => '1'))
    await expectUsable()
  })

  test.for([FIELDS, SENT_TIMES])('is usable if %s has another type', async (key) => {
    await learn()
    await redis.del(key)
    await redis.set(key, 'text')
    await expectUsable()
  })
})

test('a result that is not a number is an error and yields no permit', async () => {
  for (const answer of [['nan'], ['0', 'inf', '0'], ['0', '0', '0', '-1', '1', '1']]) {
    await expect(sharedQuotaOn(async () => answer).reserve(1)).rejects.toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
    })
    await expect(readQuotaState(async () => answer)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' })
  }
})
