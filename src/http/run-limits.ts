import { setMaxListeners } from 'node:events'
import { ExportError } from '../core/model/errors.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'
import { linkAbortSignal } from '../core/platform/abort-signal.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'
import { createWaitAnnouncer, MAX_WAIT_MS, waitTooLongError } from './wait-limits.ts'

/** How far a command may go. */
export type RunLimits = {
  /** Requests that may be sent, tries included; undefined: no bound. */
  maxRequests?: number | undefined
  /** Stop after this long, in milliseconds (at most 24 days count); undefined: no bound. */
  deadlineMs?: number | undefined
  /** Aborting it ends the command: with its reason if that is an ExportError, else with INTERRUPTED. */
  signal?: AbortSignal | undefined
}

/** Bounds that count: the clock of a deadline runs from the start on. */
export type StartedRunLimits = {
  /** Ends with the caller's signal, or at the deadline with BUDGET_REACHED. */
  signal: AbortSignal
  /** Counts a request that is about to be sent; throws BUDGET_REACHED where none is left. */
  countRequest(): void
  /**
   * Takes note that the service asks to wait so long, in milliseconds. A wait past the deadline ends the command at once with
   * BUDGET_REACHED, one beyond all reason with RATE_LIMITED; of another long one it returns what to tell the user, once.
   */
  checkWait(waitMs: number): string | undefined
  /** Lets go of the clock and of the caller's signal. */
  end(): void
}

/** Starts the bounds of one command; `words` say what ended where the caller's signal gives no reason of ours. */
export function startRunLimits(
  { maxRequests, deadlineMs, signal }: RunLimits,
  message: string,
): StartedRunLimits {
  const { controller, unlink } = linkAbortSignal(signal, message)
  // Every request and every job listens to it: many listeners are no leak here.
  setMaxListeners(0, controller.signal)
  const onDeadline = () => controller.abort(limitReached('deadline'))
  const timer =
    deadlineMs === undefined ? undefined : setTimeout(onDeadline, Math.min(deadlineMs, MAX_TIMEOUT_MS))
  const startedMs = Date.now()
  const describeWait = createWaitAnnouncer()
  let sent = 0
  return {
    signal: controller.signal,
    countRequest: () => {
      if (sent === maxRequests) throw limitReached(`budget of ${maxRequests} request${sent === 1 ? '' : 's'}`)
      sent += 1
    },
    checkWait: (waitMs) => {
      if (waitMs > MAX_WAIT_MS) controller.abort(waitTooLongError(waitMs))
      else if (Date.now() + waitMs > startedMs + (deadlineMs ?? Number.POSITIVE_INFINITY))
        controller.abort(waitPastDeadline(waitMs))
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
