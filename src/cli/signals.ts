import { ExportError } from '../core/model/errors.ts'
import type { Log } from '../terminal/log.ts'

/** Time that an interrupted run has to save its state before the process exits, in milliseconds. */
const SHUTDOWN_GRACE_MS = 4_000

/** Resolves when the process receives SIGINT or SIGTERM. */
export function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

/** What an interruption means for the work of a command. */
export type Interruption = {
  /** The part of the log message that states what happens to the work. */
  outcome: string
  /** @default the fix of INTERRUPTED: the same command resumes */
  fix?: string
}

const KEEPS_PAGES: Interruption = { outcome: 'received pages are kept' }

/** For commands that do not resume. */
export const STARTS_OVER: Interruption = {
  outcome: 'the same command starts over',
  fix: 'Run the same command again: it starts over.',
}

/**
 * Aborts the returned signal on SIGINT and SIGTERM. The process exits immediately on a second signal, and after the grace
 * period if the work has not ended.
 */
export function abortOnSignals(
  log: Log,
  { outcome, fix }: Interruption = KEEPS_PAGES,
): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController()
  const interrupt = (code: 'INTERRUPTED' | 'TERMINATED', name: string) => () => {
    const error = new ExportError(code, `${name} was received`, fix === undefined ? {} : { fix })
    if (controller.signal.aborted) process.exit(error.failure.exit)
    log.info(`${name}: stopping; ${outcome}`)
    controller.abort(error)
    setTimeout(() => process.exit(error.failure.exit), SHUTDOWN_GRACE_MS).unref()
  }
  const handlers = { SIGINT: interrupt('INTERRUPTED', 'SIGINT'), SIGTERM: interrupt('TERMINATED', 'SIGTERM') }
  process.on('SIGINT', handlers.SIGINT)
  process.on('SIGTERM', handlers.SIGTERM)
  return {
    signal: controller.signal,
    dispose: () => {
      process.off('SIGINT', handlers.SIGINT)
      process.off('SIGTERM', handlers.SIGTERM)
    },
  }
}
