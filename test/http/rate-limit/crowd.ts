import { setMaxListeners } from 'node:events'
import {
  createRateLimiter,
  type Permit,
  type RateLimiter,
} from '../../../src/http/rate-limit/rate-limiter.ts'
import type { QuotaService, Verdict } from './quota-service.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

/**
 * The delay (ms) that a client reads from a 429. The service decided at `sentAt` that `waitMs` remain; the
 * response arrived at `respondedAt`.
 */
export type RetryAfterPolicy = (response: {
  waitMs: number
  sentAt: number
  respondedAt: number
}) => number | undefined

export const inSeconds: RetryAfterPolicy = ({ waitMs }) => Math.max(1, Math.ceil(waitMs / 1000)) * 1000
/** A date: the next whole second at which the wait is over. */
export const asDate: RetryAfterPolicy = ({ waitMs, sentAt, respondedAt }) =>
  Math.max(0, Math.ceil((sentAt + waitMs) / 1000) * 1000 - respondedAt)
export const omitted: RetryAfterPolicy = () => undefined

export type Simulation = {
  service: QuotaService
  /** Number of requests to be granted. */
  requests: number
  retryAfter?: RetryAfterPolicy
  /** Which rate-limit headers responses carry: none, the remaining quota, or also its reset time. */
  reports?: 'nothing' | 'remaining' | 'reset'
  readers?: number
  /** Minimum and maximum response time (ms). */
  delayMs?: readonly [number, number]
  /** Requests per second that another client of the same quota sends at a given time. */
  otherPerSecond?: (now: number) => number
  seed?: number
  /** Requests per millisecond that the limiter knows from the beginning. */
  knownPerMs?: number
  /** Maximum delay of timers (ms). */
  lateMs?: number
  /** Creates the rate limiters among which the readers are distributed. @default the local one */
  createLimiters?: (clock: VirtualClock) => readonly RateLimiter[]
}

export type Report = {
  seconds: number
  granted: number
  throttled: number
  /** Requests granted to the readers and the other client, as a share of what the service could have granted. */
  used: number
  /** Share of the readers' requests that were throttled. */
  throttledShare: number
  /** Send time of each request, and of each that was granted. */
  sent: number[]
  grantedAt: number[]
  /** The pause that each 429 requested, from its arrival on. */
  pauses: { from: number; until: number }[]
}

/** Simulates readers that send requests as fast as the rate limiter allows, in virtual time. */
export async function simulate(simulation: Simulation): Promise<Report> {
  const { service, requests, readers = 32, seed = 1, lateMs = 0 } = simulation
  const clock = virtualClock({ seed, lateMs })
  const createLimiters =
    simulation.createLimiters ?? ((clock) => [createRateLimiter(clock, simulation.knownPerMs)])
  const rateLimiters = createLimiters(clock)
  const report = {
    granted: 0,
    throttled: 0,
    sent: [] as number[],
    grantedAt: [] as number[],
    pauses: [] as Report['pauses'],
  }
  const others = simulation.otherPerSecond === undefined ? undefined : startOther(simulation, clock)
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const reader = async (rateLimiter: RateLimiter) => {
    while (report.granted < requests) {
      const permit = await rateLimiter.acquire(never)
      report.sent.push(clock.now())
      await sendOne(simulation, { clock, permit, report })
      if (report.granted >= requests) finish()
    }
  }
  for (let nth = 0; nth < readers; nth += 1) {
    const rateLimiter = rateLimiters[nth % rateLimiters.length]
    if (rateLimiter !== undefined) void reader(rateLimiter)
  }
  let end: number | undefined
  void finished.then(() => {
    end = clock.now()
  })
  while (end === undefined) await clock.runUntil(clock.now() + 1_000)
  const { granted, throttled } = report
  const used = (granted + (others?.granted ?? 0)) / service.supplyUntil(end)
  return { ...report, seconds: end / 1000, used, throttledShare: throttled / (granted + throttled) }
}

const never = new AbortController().signal
setMaxListeners(0, never)

type SendContext = {
  clock: VirtualClock
  permit: Permit
  report: Pick<Report, 'granted' | 'throttled' | 'grantedAt' | 'pauses'>
}

/** Sends one request and waits for its response. The service decides when the request is sent. */
async function sendOne(simulation: Simulation, { clock, permit, report }: SendContext): Promise<void> {
  const {
    service,
    retryAfter = inSeconds,
    reports = 'nothing',
    delayMs: [least, most] = [60, 120],
  } = simulation
  const sentAt = clock.now()
  const verdict = service.request(sentAt)
  await new Promise<void>((resolve) => clock.setTimer(least + clock.random() * (most - least), resolve))
  if (verdict.granted) {
    report.granted += 1
    report.grantedAt.push(sentAt)
    permit({ kind: 'granted', ...rateHeaders(verdict, reports) })
  } else {
    report.throttled += 1
    const retryAfterMs = retryAfter({ waitMs: verdict.waitMs, sentAt, respondedAt: clock.now() })
    report.pauses.push({ from: clock.now(), until: clock.now() + (retryAfterMs ?? 0) })
    permit({ kind: 'throttled', retryAfterMs })
  }
}

function rateHeaders({ remaining, resetMs }: Verdict, reports: Simulation['reports']) {
  return {
    remaining: reports === 'nothing' ? undefined : remaining,
    resetMs: reports === 'reset' && resetMs !== undefined ? Math.ceil(resetMs / 1000) * 1000 : undefined,
  }
}

function startOther(
  { service, otherPerSecond = () => 0 }: Simulation,
  clock: VirtualClock,
): { granted: number } {
  const other = { granted: 0 }
  const request = () => {
    const perSecond = otherPerSecond(clock.now())
    if (perSecond > 0 && service.request(clock.now()).granted) other.granted += 1
    clock.setTimer(perSecond > 0 ? 1000 / perSecond : 100, request)
  }
  request()
  return other
}
