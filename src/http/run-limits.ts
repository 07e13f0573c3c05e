import { setMaxListeners } from 'node:events'
import { ExportError } from '../core/model/errors.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'
import { linkAbortSignal } from '../core/platform/abort-signal.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'
import type { DailyBudget } from './daily-budget.ts'
import { createWaitAnnouncer, MAX_WAIT_MS, waitTooLongError } from './wait-limits.ts'

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
