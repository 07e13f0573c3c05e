import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  createRedisRateLimiter,
  openRedisStore,
  readQuotaState,
  stateKey,
} from '../../../src/cluster/rate-limit/redis-rate-limiter.ts'
import {
  exchange,
  newSharedState,
  parseSharedState,
} from '../../../src/cluster/rate-limit/shared-limiter-state.ts'
import { noRedis, testServer } from '../../helpers/shared-servers.ts'

const THROTTLED = { kind: 'throttled', retryAfterMs: 1 } as const
const { signal } = new AbortController()
const CLIENT = '0'.repeat(16)

/** A state with every optional part, as a JSON value. */
function learnedState(now: number): unknown {
  const state = newSharedState(now - 9_000)
  const context = { now: now - 9_000, random: () => 0.5 }
  const ask = (held: number, wanted: number) => ({ client: CLIENT, held, outcomes: [], wanted })
  const { permits } = exchange(state, ask(0, 3), context)
  const outcomes = permits.map(({ permit }) => ({ permit, outcome: THROTTLED, ageMs: 0 }))
  exchange(state, { ...ask(0, 0), outcomes }, { ...context, now: now - 8_900 })
  exchange(state, ask(0, 2), { ...context, now: now - 8_000 })
  return JSON.parse(JSON.stringify(state))
}

/** The paths of all values within a JSON value. */
function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))]
}

/** A copy with another value at a path. */
function withValue(value: unknown, [name, ...rest]: readonly string[], changed: unknown): unknown {
  if (name === undefined) return changed
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(value as object) }
  const inner = Reflect.get(copy, name)
  Reflect.set(copy, name, withValue(inner, rest, changed))
  return copy
}

const PATHS = pathsOf(learnedState(1_800_000_000_000)).map((path) => path.join('.'))
const VALUES = [null, -1, 0, 1e15, 1e300, 'much', '', [], {}, true]

test.for(PATHS)('is usable with any value of %s', (path) => {
  const now = 1_800_000_000_000
  for (const value of VALUES) {
    const damaged = withValue(learnedState(now), path === '' ? [] : path.split('.'), value)
    const state = parseSharedState(JSON.stringify(damaged), now)
    const before = state.limiter.pausedUntil - (now - state.startedAt)
    expect(before).toBeLessThanOrEqual(2 * 86_400_000)
    const { permits, nextMs } = exchange(
      state,
      { client: CLIENT, held: 0, outcomes: [], wanted: 4 },
      { now, random: () => 0.5 },
    )
    for (const { delayMs } of permits) expect(delayMs).toBeLessThan(1_000)
    expect(nextMs).not.toBeNaN()
    for (const { permit } of permits)
      exchange(
        state,
        { client: CLIENT, held: 0, outcomes: [{ permit, outcome: THROTTLED, ageMs: 0 }], wanted: 0 },
        { now: now + 100, random: () => 0.5 },
      )
    // What was computed from it is a state again.
    expect(parseSharedState(JSON.stringify(state), now + 100)).toEqual(state)
  }
})

test.for(['', 'x', '7', 'no JSON at all, of any length', `${'a'.repeat(16)}{}`, '0'.repeat(300_000)])(
  'starts over if the stored value is %.20s',
  (text) => {
    expect(parseSharedState(text, 5_000)).toEqual(newSharedState(5_000))
  },
)

test('starts over if the state has another version or too many samples', () => {
  const state = newSharedState(5_000)
  for (const other of [
    { ...state, version: 2 },
    {
      ...state,
      limiter: { ...state.limiter, window: { ...state.limiter.window, sentAt: Array(600).fill(1) } },
    },
  ])
    expect(parseSharedState(JSON.stringify({ ...other, updatedAt: 1 }), 9_000)).toEqual(newSharedState(9_000))
  expect(parseSharedState(JSON.stringify({ ...state, updatedAt: 1 }), 9_000).updatedAt).toBe(1)
})

test('starts over if the clock of the server was set back', () => {
  const state = newSharedState(1_000_000)
  exchange(state, { client: CLIENT, held: 0, outcomes: [], wanted: 1 }, { now: 1_500_000, random: () => 0 })
  const stored = JSON.stringify(state)
  expect(parseSharedState(stored, 1_499_500)).toEqual(state)
  expect(parseSharedState(stored, 1_400_000)).toEqual(newSharedState(1_400_000))
})

describe.skipIf(noRedis)('the rate-limit state in Redis', { tags: ['long'] }, () => {
  const server = testServer()
  /** Each test has its own, because limiters of earlier tests may still write their state. */
  let quota: string
  let tests = 0
  beforeEach(() => {
    tests += 1
    quota = `quota ${tests}`
  })

  test('is replaced only by the first of two clients that have read it', async () => {
    const store = server.stateStore(quota)
    const [one, other] = [await store.read(), await store.read()]
    expect(one.json).toBe('')
    expect(await store.replace(one.revision, JSON.stringify(newSharedState(1)))).toBe(true)
    expect(await store.replace(other.revision, JSON.stringify(newSharedState(2)))).toBe(false)
    const { json, now } = await store.read()
    expect(parseSharedState(json, now).startedAt).toBe(1)
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
    expect(await server.redis.pttl(stateKey(quota))).toBeGreaterThan(86_000_000)
  })

  test('loses no update of clients that change it at the same time', async () => {
    const limiters = Array.from({ length: 8 }, () => createRedisRateLimiter(server.stateStore(quota)))
    const permits = await Promise.all(limiters.map((limiter) => limiter.acquire(signal)))
    for (const release of permits) release({ kind: 'granted', remaining: undefined, resetMs: undefined })
    const stateNow = async () => {
      const { json, now } = await server.stateStore(quota).read()
      return parseSharedState(json, now)
    }
    await expect
      .poll(async () => (await stateNow()).limiter)
      .toMatchObject({ sent: 8, grantedSinceReset: 8, inFlight: 0 })
    expect((await stateNow()).clients).toEqual({})
  })

  test('pauses all processes when one is asked to wait', async () => {
    const [one, other] = [0, 1].map(() => createRedisRateLimiter(server.stateStore(quota)))
    const release = await one?.acquire(signal)
    release?.({ kind: 'throttled', retryAfterMs: 60_000 })
    await expect
      .poll(async () => (await readQuotaState(server.stateStore(quota))).pausedMs)
      .toBeGreaterThan(30_000)
    const stop = new AbortController()
    const waiting = other?.acquire(stop.signal)
    await expect.poll(() => other?.pausedForMs()).toBeGreaterThan(30_000)
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })

  test('learns a rate from a 429 and shares it', async () => {
    const state = () => readQuotaState(server.stateStore(quota))
    expect(await state()).toEqual({ perSecond: undefined, pausedMs: 0 })
    const limiter = createRedisRateLimiter(server.stateStore(quota))
    ;(await limiter.acquire(signal))(THROTTLED)
    await createRedisRateLimiter(server.stateStore(quota)).acquire(signal)
    expect((await state()).perSecond).toBeGreaterThan(0)
  })

  test('a compare-and-set that is sent again after a lost connection succeeds again', async () => {
    const { revision } = await server.stateStore(quota).read()
    const evalTwice = async (...args: Parameters<Redis['eval']>) => {
      await server.redis.eval(...args)
      return server.redis.eval(...args)
    }
    const resending: Redis = Object.create(server.redis, { eval: { value: evalTwice } })
    expect(await openRedisStore(resending, quota).replace(revision, '{}')).toBe(true)
    expect(await openRedisStore(resending, quota).replace(revision, '{}')).toBe(false)
  })

  test('waits while Redis restarts, and continues with the same state', async () => {
    const limiter = createRedisRateLimiter(server.stateStore(quota))
    ;(await limiter.acquire(signal))({ kind: 'failed', retryAfterMs: undefined })
    const restarted = server.restart()
    const permit = limiter.acquire(signal)
    await restarted
    expect(await permit).toBeTypeOf('function')
    const { json, now } = await server.stateStore(quota).read()
    expect(parseSharedState(json, now).limiter.sent).toBe(2)
  })

  test('leaves the states of other versions unchanged', async () => {
    const otherKey = stateKey(quota).replace(/\d+$/, (version) => String(Number(version) + 1))
    await server.redis.set(otherKey, 'other')
    const limiter = createRedisRateLimiter(server.stateStore(quota))
    ;(await limiter.acquire(signal))({ kind: 'failed', retryAfterMs: undefined })
    expect(await server.redis.get(otherKey)).toBe('other')
    expect((await server.redis.keys(`${quota}:*`)).sort()).toEqual([stateKey(quota), otherKey].sort())
  })

  test('continues with a new state if Redis is wiped', async () => {
    const limiter = createRedisRateLimiter(server.stateStore(quota))
    const release = await limiter.acquire(signal)
    await server.flush()
    release({ kind: 'granted', remaining: undefined, resetMs: undefined })
    expect(await limiter.acquire(signal)).toBeTypeOf('function')
    const { json, now } = await server.stateStore(quota).read()
    expect(parseSharedState(json, now).limiter).toMatchObject({ sent: 1, grantedSinceReset: 0 })
  })

  test.for(['text', '\u00ff'.repeat(40), 'list', 'large'])(
    'overwrites a foreign value: %s',
    async (value) => {
      if (value === 'list') await server.redis.rpush(stateKey(quota), '1')
      else await server.redis.set(stateKey(quota), value === 'large' ? 'x'.repeat(1_000_000) : value)
      const limiter = createRedisRateLimiter(server.stateStore(quota))
      ;(await limiter.acquire(signal))({ kind: 'failed', retryAfterMs: undefined })
      const { json, now } = await server.stateStore(quota).read()
      expect(parseSharedState(json, now).limiter.sent).toBe(1)
    },
  )
})
