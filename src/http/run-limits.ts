import { setMaxListeners } from 'node:events'
import { ExportError } from '../core/model/errors.ts'
import { endOfUtcDay, formatMinuteCeil, utcDay } from '../core/model/utc.ts'
import { linkAbortSignal } from '../core/platform/abort-signal.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'

/** Limits of one command. */
export type RunLimits = {
  /** Maximum number of requests, retries included. @default unlimited */
  maxRequests?: number | undefined
  /** Maximum duration in milliseconds; values above 24 days count as 24 days. @default unlimited */
  deadlineMs?: number | undefined
  /** Aborts the command: with the signal's reason if that is an ExportError, otherwise with INTERRUPTED. */
  signal?: AbortSignal | undefined
  /** Requests sent so far, updated in place: several parts of a command can count against one limit. @default none */
  usage?: Usage | undefined
}

/** What a command has used. */
export type Usage = { requests: number }

/** Limits in force. The deadline counts from the start. */
export type StartedRunLimits = {
  /** Aborted with the caller's signal, or at the deadline with BUDGET_REACHED. */
  signal: AbortSignal
  /**
   * Counts a request that is about to be sent, and its compute units. Throws BUDGET_REACHED if the limit or the
   * daily budget is reached.
   */
  countRequest(units?: number): void
  /** Number of requests that may still be sent; Infinity without a limit. */
  requestsLeft(): number
  /**
   * Checks a delay that the service requests. A delay past the deadline aborts the command immediately with
   * BUDGET_REACHED, one above `MAX_WAIT_MS` with RATE_LIMITED.
   *
   * @param waitMs the delay in milliseconds
   * @returns a notice for the user about any other long delay, once; otherwise undefined
   */
  checkWait(waitMs: number): string | undefined
  /** Stops the deadline timer and detaches from the caller's signal. */
  end(): void
}

/**
 * Starts the limits of one command.
 *
 * @param message message of the error if the caller's signal has no ExportError as its reason
 * @param budget the daily budget of compute units. @default unlimited
 */
export function startRunLimits(
  { maxRequests, deadlineMs, signal, usage = { requests: 0 } }: RunLimits,
  message: string,
  budget?: DailyBudget,
): StartedRunLimits {
  const { controller, unlink } = linkAbortSignal(signal, message)
  // Every request and every job adds a listener, so many listeners do not indicate a leak.
  setMaxListeners(0, controller.signal)
  const onDeadline = () => controller.abort(limitReached('deadline'))
  const timer =
    deadlineMs === undefined ? undefined : setTimeout(onDeadline, Math.min(deadlineMs, MAX_TIMEOUT_MS))
  // The wall clock may jump; a duration must not.
  const endsAt = performance.now() + (deadlineMs ?? Number.POSITIVE_INFINITY)
  const describeWait = createWaitAnnouncer()
  return {
    signal: controller.signal,
    countRequest: (units = 0) => {
      if (maxRequests !== undefined && usage.requests >= maxRequests)
        throw limitReached(`limit of ${maxRequests} request${maxRequests === 1 ? '' : 's'}`)
      budget?.count(units)
      usage.requests += 1
    },
    requestsLeft: () => Math.max(0, (maxRequests ?? Number.POSITIVE_INFINITY) - usage.requests),
    checkWait: (waitMs) => {
      if (waitMs > MAX_WAIT_MS) controller.abort(waitTooLongError(waitMs))
      else if (performance.now() + waitMs > endsAt) controller.abort(waitPastDeadline(waitMs))
      return describeWait(waitMs)
    },
    end: () => {
      clearTimeout(timer)
      unlink()
    },
  }
}

function waitPastDeadline(waitMs: number): ExportError {
  const end = formatMinuteCeil(Date.now() + waitMs)
  return new ExportError('BUDGET_REACHED', `the service asks to wait until ${end}, past the deadline`, {
    fix: `Run the same command again after ${end}: it resumes where it stopped.`,
  })
}

function limitReached(limit: string): ExportError {
  return new ExportError('BUDGET_REACHED', `the ${limit} is reached`)
}

/** Maximum delay that the service may request (ms). A daily quota is renewed within it. */
export const MAX_WAIT_MS = 24 * 3_600_000
/** Delays from this length (ms) on are announced to the user. */
export const LONG_WAIT_MS = 60_000
/**
 * Ends of delays that differ by less than this (ms) count as one: the requests in flight receive their 429s
 * one after the other.
 */
const SAME_END_MS = 60_000

/** The error for a requested delay above `MAX_WAIT_MS`. */
export function waitTooLongError(waitMs: number): ExportError {
  const end = formatMinuteCeil(Date.now() + waitMs)
  const hours = MAX_WAIT_MS / 3_600_000
  return new ExportError('RATE_LIMITED', `the service asks to wait until ${end}, more than ${hours} hours`, {
    fix: `Ask the provider about the quota of the key, or run the same command again after ${end}: it resumes.`,
  })
}

/**
 * Creates a function that returns a notice about a long delay: once for each end, and undefined for short
 * delays.
 */
export function createWaitAnnouncer(): (waitMs: number) => string | undefined {
  let announcedEnd = 0
  return (waitMs) => {
    const end = Date.now() + waitMs
    if (waitMs < LONG_WAIT_MS || waitMs > MAX_WAIT_MS || end < announcedEnd + SAME_END_MS) return undefined
    announcedEnd = end
    return `the service asks to wait until ${formatMinuteCeil(end)}; no request is sent until then`
  }
}

/** The compute units that may be used per UTC day. */
export type DailyBudget = {
  /** Counts units that are about to be used. Throws BUDGET_REACHED, and counts nothing, if they exceed what is left. */
  count(units: number): void
  /** Units that may still be used on this day; Infinity without a limit. */
  left(): number
}

export type DailyBudgetOptions = {
  /** @default unlimited */
  perDay: number | undefined
  /** Units that were used earlier on this day. */
  used: number
  /** Time in milliseconds since 1970. @default Date.now */
  now?: () => number
}

/** Opens the budget of a command. It is renewed when the UTC day ends. */
export function openDailyBudget({ perDay, used, now = Date.now }: DailyBudgetOptions): DailyBudget {
  let [day, usedToday] = [utcDay(now()), used]
  const usedOn = (nowMs: number) => (utcDay(nowMs) === day ? usedToday : 0)
  return {
    count: (units) => {
      if (perDay === undefined) return
      const nowMs = now()
      const usedBefore = usedOn(nowMs)
      if (usedBefore + units > perDay) throw budgetReached(perDay, nowMs)
      ;[day, usedToday] = [utcDay(nowMs), usedBefore + units]
    },
    left: () => (perDay === undefined ? Number.POSITIVE_INFINITY : Math.max(0, perDay - usedOn(now()))),
  }
}

/** The error for a day whose budget is used up. */
function budgetReached(perDay: number, nowMs: number): ExportError {
  const end = formatMinuteCeil(endOfUtcDay(nowMs))
  return new ExportError(
    'BUDGET_REACHED',
    `the budget of ${perDay} compute units a day is used up until ${end}`,
    {
      fix: `Run the same command again after ${end}: it resumes where it stopped.`,
    },
  )
}
