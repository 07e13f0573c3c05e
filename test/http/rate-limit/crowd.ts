import { setMaxListeners } from 'node:events'
import { createRateLimiter, type Permit } from '../../../src/http/rate-limit/rate-limiter.ts'
import type { QuotaService, Verdict } from './quota-service.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

/** Milliseconds to wait as a client reads it in a refusal that was decided at `asked` and came at `answered`. */
export type Told = (refusal: { waitMs: number; asked: number; answered: number }) => number | undefined

export const inSeconds: Told = ({ waitMs }) => Math.max(1, Math.ceil(waitMs / 1000)) * 1000
/** Until the next whole second on which the wait is over. */
export const asDate: Told = ({ waitMs, asked, answered }) =>
  Math.max(0, Math.ceil((asked + waitMs) / 1000) * 1000 - answered)
export const notAtAll: Told = () => undefined

export type Crowd = {
  service: QuotaService
  /** Requests to be granted in all. */
  requests: number
  told?: Told
  /** Whether answers say what is left: not at all, the number, or also when it begins anew. */
  says?: 'nothing' | 'remaining' | 'reset'
  readers?: number
  /** Shortest and longest time that an answer takes. */
  delayMs?: readonly [number, number]
  /** Requests a second of another client of the same quota at that time. */
  otherPerSecond?: (now: number) => number
  seed?: number
  /** How late timers go off at most. */
  lateMs?: number
}

export type Report = {
  seconds: number
  granted: number
  throttled: number
  /** What readers and the other client were granted, of all that the service could have granted. */
  used: number
  /** Share of the readers' requests that were refused. */
  refusedShare: number
  /** When each request left. */
  left: number[]
  /** From each refusal's answer on, for as long as it asked to wait. */
  pauses: { from: number; until: number }[]
}

/** Readers that ask a service as fast as the gate lets them, in virtual time. */
export async function runCrowd(crowd: Crowd): Promise<Report> {
  const { service, requests, readers = 32, seed = 1, lateMs = 0 } = crowd
  const clock = virtualClock({ seed, lateMs })
  const rateLimiter = createRateLimiter(clock)
  const report = { granted: 0, throttled: 0, left: [] as number[], pauses: [] as Report['pauses'] }
  const others = crowd.otherPerSecond === undefined ? undefined : startOther(crowd, clock)
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const reader = async () => {
    while (report.granted < requests) {
      const pass = await rateLimiter.acquire(never)
      report.left.push(clock.now())
      await exchange(crowd, { clock, pass, report })
      if (report.granted >= requests) finish()
    }
  }
  for (let nth = 0; nth < readers; nth += 1) void reader()
  let end: number | undefined
  void finished.then(() => {
    end = clock.now()
  })
  while (end === undefined) await clock.runUntil(clock.now() + 1_000)
  const { granted, throttled } = report
  const used = (granted + (others?.granted ?? 0)) / service.supplyUntil(end)
  return { ...report, seconds: end / 1000, used, refusedShare: throttled / (granted + throttled) }
}

const never = new AbortController().signal
setMaxListeners(0, never)

type Exchange = {
  clock: VirtualClock
  pass: Permit
  report: Pick<Report, 'granted' | 'throttled' | 'pauses'>
}

/** One request and its answer; the service decides as the request comes. */
async function exchange(crowd: Crowd, { clock, pass, report }: Exchange): Promise<void> {
  const { service, told = inSeconds, says = 'nothing', delayMs: [least, most] = [60, 120] } = crowd
  const asked = clock.now()
  const verdict = service.ask(asked)
  await new Promise<void>((resolve) => clock.setTimer(least + clock.random() * (most - least), resolve))
  if (verdict.granted) {
    report.granted += 1
    pass({ kind: 'granted', ...statement(verdict, says) })
  } else {
    report.throttled += 1
    const retryAfterMs = told({ waitMs: verdict.waitMs, asked, answered: clock.now() })
    report.pauses.push({ from: clock.now(), until: clock.now() + (retryAfterMs ?? 0) })
    pass({ kind: 'throttled', retryAfterMs })
  }
}

function statement({ remaining, resetMs }: Verdict, says: Crowd['says']) {
  return {
    remaining: says === 'nothing' ? undefined : remaining,
    resetMs: says === 'reset' && resetMs !== undefined ? Math.ceil(resetMs / 1000) * 1000 : undefined,
  }
}

function startOther({ service, otherPerSecond = () => 0 }: Crowd, clock: VirtualClock): { granted: number } {
  const other = { granted: 0 }
  const ask = () => {
    const perSecond = otherPerSecond(clock.now())
    if (perSecond > 0 && service.ask(clock.now()).granted) other.granted += 1
    clock.setTimer(perSecond > 0 ? 1000 / perSecond : 100, ask)
  }
  ask()
  return other
}
