import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { currentRate } from '../../http/rate-limit/learned-rate.ts'
import {
  type LimiterClock,
  type Permit,
  type RateLimiter,
  systemClock,
} from '../../http/rate-limit/rate-limiter.ts'
import { MAX_WAIT_MS } from '../../http/run-limits.ts'
import {
  type ExchangeRequest,
  exchange,
  LOOK_AHEAD_MS,
  type PermitOutcome,
  parseSharedState,
  type ReservedPermit,
  type SharedLimiterState,
  STATE_VERSION,
} from './shared-limiter-state.ts'

/** State of a quota: requests per second (undefined before the first 429) and remaining pause (ms). */
export type QuotaState = { perSecond: number | undefined; pausedMs: number }

/** Reads the state of a quota without changing it. */
export async function readQuotaState(store: StateStore): Promise<QuotaState> {
  const { json, now } = await store.read()
  const { limiter, startedAt } = parseSharedState(json, now)
  const { learnedRate } = limiter
  return {
    perSecond: learnedRate && learnedRate.stage !== 'ramp-up' ? 1_000 * currentRate(learnedRate) : undefined,
    pausedMs: Math.max(0, limiter.pausedUntil - (now - startedAt)),
  }
}

/**
 * Minimum delay between exchanges that the rate limits, and maximum delay until a grant is recorded, as a share of the
 * time by which permits are issued ahead.
 */
const INTERVAL_SHARE = 0.5
/** Maximum delay (ms) between exchanges while requests wait: a pause also ends if the state is lost. */
const MAX_INTERVAL_MS = 1_000
/** Delay (ms) after a failed exchange. */
const RETRY_MS = 500
/** Upper bound (ms) of the random delay after a conflict. It doubles from 1 ms with each further one. */
const MAX_CONFLICT_DELAY_MS = 64
/** An exchange fails after this many conflicts. */
const MAX_CONFLICTS = 12

type Waiter = { grant: (permit: Permit) => void; weight: number }
type State = {
  store: StateStore
  clock: LimiterClock
  knownPerMs: number | undefined
  client: string
  /** The state (`startedAt`) that this process joined last. */
  joined: number | undefined
  waiters: Waiter[]
  /** Outcomes that the shared state does not contain yet, with the time since when they are known. */
  outcomes: { permit: ReservedPermit; outcome: PermitOutcome; at: number }[]
  /** Permits whose time has not come yet. */
  scheduled: number
  /** Permits whose outcome is unknown, scheduled ones included. */
  active: number
  pausedUntil: number
  /** See `INTERVAL_SHARE`. */
  intervalMs: number
  /** Delay until another exchange yields permits (see `ExchangeResult`); 0 if the last one granted all. */
  nextMs: number
  isExchanging: boolean
  next: { at: number; cancel: () => void } | undefined
}

export type RedisLimiterOptions = {
  /** Time, randomness and timers of this process. @default the system's */
  clock?: LimiterClock
  /**
   * Requests per millisecond that the quota allows: sending starts at this rate and never exceeds it. If the
   * processes disagree, the rate of the one that started last applies. @default unknown
   */
  knownPerMs?: number | undefined
}

/**
 * Creates a rate limiter for a quota that several processes share. It obtains permits in exchanges with the
 * shared state: read, compute, compare-and-set.
 */
export function createRedisRateLimiter(
  store: StateStore,
  { clock = systemClock, knownPerMs }: RedisLimiterOptions = {},
): RateLimiter {
  const state: State = {
    store,
    clock,
    knownPerMs,
    client: randomBytes(8).toString('hex'),
    joined: undefined,
    waiters: [],
    outcomes: [],
    scheduled: 0,
    active: 0,
    pausedUntil: clock.now(),
    intervalMs: INTERVAL_SHARE * LOOK_AHEAD_MS,
    nextMs: 0,
    isExchanging: false,
    next: undefined,
  }
  return {
    acquire: (signal, weight = 1) => acquire(state, signal, weight),
    pausedForMs: () => Math.max(0, state.pausedUntil - clock.now()),
  }
}

function acquire(state: State, signal: AbortSignal, weight: number): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const waiter: Waiter = {
      grant: (permit) => {
        signal.removeEventListener('abort', onAbort)
        resolve(permit)
      },
      weight,
    }
    const onAbort = () => {
      state.waiters = state.waiters.filter((other) => other !== waiter)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    state.waiters.push(waiter)
    schedule(state)
  })
}

/** Delay (ms) until the next exchange; Infinity if none is needed. */
function nextDelay({ waiters, scheduled, outcomes, intervalMs, nextMs }: State): number {
  const needsOutcome = nextMs === Number.POSITIVE_INFINITY
  const isUrgentReport = needsOutcome || outcomes.some(({ outcome }) => isUrgent(outcome))
  const reportMs = isUrgentReport ? 0 : intervalMs
  // While an outcome is needed, another process may report it.
  const pollMs = needsOutcome ? intervalMs : Math.max(nextMs, intervalMs)
  const permitMs = nextMs === 0 ? 0 : Math.min(pollMs, MAX_INTERVAL_MS)
  return Math.min(
    outcomes.length > 0 ? reportMs : Number.POSITIVE_INFINITY,
    waiters.length > scheduled ? permitMs : Number.POSITIVE_INFINITY,
  )
}

/** A 429 or a pause is recorded at once, so that it stops all processes. */
function isUrgent(outcome: PermitOutcome): boolean {
  return outcome.kind === 'throttled' || (outcome.kind === 'failed' && outcome.retryAfterMs !== undefined)
}

/** Schedules an exchange, unless an earlier one is scheduled. */
function schedule(state: State, delayMs = nextDelay(state)): void {
  const { clock, next, isExchanging } = state
  const at = clock.now() + delayMs
  if (isExchanging || (next?.at ?? Number.POSITIVE_INFINITY) <= at) return
  next?.cancel()
  state.next = { at, cancel: clock.setTimer(delayMs, () => void runExchange(state)) }
}

/** Reports the known outcomes, obtains permits for the waiters, and schedules the next exchange. */
async function runExchange(state: State): Promise<void> {
  const { clock } = state
  state.next = undefined
  state.isExchanging = true
  const outcomes = state.outcomes.splice(0)
  const result = await compareAndSet(state, outcomes).catch(() => 'unavailable' as const)
  state.isExchanging = false
  if (result === 'unavailable' || result === 'conflict') {
    state.outcomes = [...outcomes, ...state.outcomes]
    // Without waiting requests, no timer keeps the process alive: the next request reports the outcomes.
    if (state.waiters.length > 0 || result === 'conflict') schedule(state, RETRY_MS)
    return
  }
  const { permits, wanted, nextMs, lookAheadMs, pausedMs, readAt } = result
  state.intervalMs = INTERVAL_SHARE * lookAheadMs
  state.pausedUntil = Math.max(state.pausedUntil, readAt + pausedMs)
  state.nextMs = permits.length < wanted ? nextMs : 0
  state.active += permits.length
  state.scheduled += permits.length
  for (const { permit, delayMs } of permits)
    clock.setTimer(Math.max(0, readAt + delayMs - clock.now()), () => grantNext(state, permit))
  schedule(state)
}

/** Changes the shared state. After a conflict with another process, the change is computed again. */
async function compareAndSet(state: State, reported: State['outcomes']) {
  const { store, clock } = state
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
    const { json, revision, now } = await store.read()
    const readAt = clock.now()
    const shared = parseSharedState(json, now)
    const request = requestOf(state, { reported, readAt, shared })
    const result = exchange(shared, request, { now, random: clock.random })
    if (!result.changed) return { ...result, wanted: request.wanted, readAt }
    if (await store.replace(revision, JSON.stringify(shared))) {
      state.joined = shared.startedAt
      return { ...result, wanted: request.wanted, readAt }
    }
    const delayMs = Math.min(2 ** conflicts, MAX_CONFLICT_DELAY_MS) * clock.random()
    await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve))
  }
  return 'conflict'
}

type ExchangeContext = { reported: State['outcomes']; readAt: number; shared: SharedLimiterState }

function requestOf(state: State, { reported, readAt, shared }: ExchangeContext): ExchangeRequest {
  const { client, knownPerMs, joined, pausedUntil, waiters, scheduled } = state
  return {
    client,
    held: state.active + state.outcomes.length,
    join:
      joined === shared.startedAt ? undefined : { knownPerMs, pausedMs: Math.max(0, pausedUntil - readAt) },
    outcomes: reported.map(({ at, ...known }) => ({ ...known, ageMs: readAt - at })),
    ...wantedBy(waiters.slice(scheduled)),
  }
}

const wantedBy = (waiters: readonly Waiter[]) => ({
  wanted: waiters.length,
  weights: waiters.map(({ weight }) => weight),
})

/** Grants a permit to the longest waiter. It is returned unused if there is none, or if a pause has started. */
function grantNext(state: State, permit: ReservedPermit): void {
  state.scheduled -= 1
  const waiter = state.pausedUntil > state.clock.now() ? undefined : state.waiters.shift()
  if (waiter === undefined) release(state, permit, { kind: 'unused' })
  else waiter.grant((outcome) => release(state, permit, outcome))
}

function release(state: State, permit: ReservedPermit, outcome: PermitOutcome): void {
  const at = state.clock.now()
  const bounded = ignoreLongDelay(outcome)
  state.pausedUntil = Math.max(state.pausedUntil, at + delayOf(bounded))
  state.active -= 1
  state.outcomes.push({ permit, outcome: bounded, at })
  schedule(state)
}

/** A delay above `MAX_WAIT_MS` fails its request, and pauses no other. */
function ignoreLongDelay(outcome: PermitOutcome): PermitOutcome {
  return delayOf(outcome) <= MAX_WAIT_MS ? outcome : { kind: 'failed', retryAfterMs: undefined }
}

/** The delay (ms) that an outcome requests. */
function delayOf(outcome: PermitOutcome): number {
  return 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0
}

/** The scope of a quota. Its key in Redis contains a hash of both fields, never the API key itself. */
export type QuotaScope = { baseUrl: string; apiKey: string | undefined }

/** The Redis key of the quota of a service and key. */
export function quotaKey({ baseUrl, apiKey = '' }: QuotaScope): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/**
 * The Redis key of the state of a quota. It contains the version of the format, so that programs of different
 * versions never replace each other's state: each treats the other as another client of the quota.
 */
export const stateKey = (quota: string) => `${quota}:v${STATE_VERSION}`

/** Holds the JSON state of a quota. Its content is defined by shared-limiter-state.ts. */
export type StateStore = {
  /** The state ('' if there is none), its revision, and the time by the store's clock, in milliseconds. */
  read(): Promise<{ json: string; revision: Buffer; now: number }>
  /**
   * Compare-and-set: stores a state if the stored one still has this revision.
   *
   * @returns whether it was stored
   */
  replace(revision: Buffer, json: string): Promise<boolean>
}

/** A stored value starts with its random revision: this many hexadecimal digits. */
const REVISION_LENGTH = 16
/** Larger values are not states; they are not read completely. */
const MAX_STATE_BYTES = 262_144
/** A state expires after this time (ms) without a change. */
const TTL_MS = 86_400_000

/**
 * Arguments: the previous revision and the next value. A command that the client repeats after a lost
 * connection may have been executed before: it succeeds again. A value of another type is overwritten.
 */
const COMPARE_AND_SET = `
local revision = redis.pcall('GETRANGE', KEYS[1], 0, ${REVISION_LENGTH - 1})
if type(revision) == 'table' then revision = '' end
if revision == string.sub(ARGV[2], 1, ${REVISION_LENGTH}) then return 1 end
if revision ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ${TTL_MS})
return 1
`

/**
 * Opens the store of a quota in Redis. It uses the clock of Redis, so the clocks of its clients may differ.
 * Commands wait while Redis is unavailable.
 */
export function openRedisStore(redis: Redis, quota: string): StateStore {
  const key = stateKey(quota)
  return {
    read: async () => {
      const results = await redis.pipeline().time().getrangeBuffer(key, 0, MAX_STATE_BYTES).exec()
      const [[timeError, time] = [], [error, stored] = []] = results ?? []
      if (timeError || !Array.isArray(time)) throw timeError ?? new Error('Redis sent no time')
      if (error && !error.message.startsWith('WRONGTYPE')) throw error
      const value = Buffer.isBuffer(stored) ? stored : Buffer.alloc(0)
      const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000
      const [revision, json] = [value.subarray(0, REVISION_LENGTH), value.subarray(REVISION_LENGTH)]
      return { json: json.toString(), revision, now }
    },
    replace: async (revision, json) => {
      const next = randomBytes(REVISION_LENGTH / 2).toString('hex') + json
      return (await redis.eval(COMPARE_AND_SET, 1, key, revision, next)) === 1
    },
  }
}
