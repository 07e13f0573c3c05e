import { setMaxListeners } from 'node:events'
import { ExportError } from '../core/model/errors.ts'
import { minuteFrom } from '../core/model/utc.ts'
import { followSignal } from '../core/platform/abort-signal.ts'
import { LONGEST_TIMER_MS } from '../core/platform/max-timeout.ts'
import { createWaitNotices, LONGEST_WAIT_MS, waitTooLong } from './wait-limits.ts'

/** How far a command may go. */
export type Bounds = {
  /** Requests that may be sent, tries included; undefined: no bound. */
  maxRequests?: number | undefined
  /** Stop after this long, in milliseconds (at most 24 days count); undefined: no bound. */
  deadlineMs?: number | undefined
  /** Aborting it ends the command: with its reason if that is an ExportError, else with INTERRUPTED. */
  signal?: AbortSignal | undefined
}

/** Bounds that count: the clock of a deadline runs from the start on. */
export type StartedBounds = {
  /** Ends with the caller's signal, or at the deadline with BUDGET_REACHED. */
  signal: AbortSignal
  /** Counts a request that is about to be sent; throws BUDGET_REACHED where none is left. */
  spend(): void
  /**
   * Takes note that the service asks to wait so long, in milliseconds. A wait past the deadline ends the command at once with
   * BUDGET_REACHED, one beyond all reason with RATE_LIMITED; of another long one it returns what to tell the user, once.
   */
  noteWait(waitMs: number): string | undefined
  /** Lets go of the clock and of the caller's signal. */
  end(): void
}

/** Starts the bounds of one command; `words` say what ended where the caller's signal gives no reason of ours. */
export function startBounds({ maxRequests, deadlineMs, signal }: Bounds, words: string): StartedBounds {
  const { stop, forget } = followSignal(signal, words)
  // Every request and every job listens to it: many listeners are no leak here.
  setMaxListeners(0, stop.signal)
  const atDeadline = () => stop.abort(reached('deadline'))
  const timer =
    deadlineMs === undefined ? undefined : setTimeout(atDeadline, Math.min(deadlineMs, LONGEST_TIMER_MS))
  const startedMs = Date.now()
  const describeWait = createWaitNotices()
  let sent = 0
  return {
    signal: stop.signal,
    spend: () => {
      if (sent === maxRequests) throw reached(`budget of ${maxRequests} request${sent === 1 ? '' : 's'}`)
      sent += 1
    },
    noteWait: (waitMs) => {
      if (waitMs > LONGEST_WAIT_MS) stop.abort(waitTooLong(waitMs))
      else if (Date.now() + waitMs > startedMs + (deadlineMs ?? Number.POSITIVE_INFINITY))
        stop.abort(pastDeadline(waitMs))
      return describeWait(waitMs)
    },
    end: () => {
      clearTimeout(timer)
      forget()
    },
  }
}

function pastDeadline(waitMs: number): ExportError {
  const end = minuteFrom(Date.now() + waitMs)
  return new ExportError('BUDGET_REACHED', `the service asks to wait until ${end}, past the deadline`, {
    fix: `Run the same command again after ${end}: it resumes where it stopped.`,
  })
}

function reached(bound: string): ExportError {
  return new ExportError('BUDGET_REACHED', `the ${bound} is reached`)
}
