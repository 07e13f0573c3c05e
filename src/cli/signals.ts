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

/**
 * Aborts the returned signal on SIGINT and SIGTERM. The process exits immediately on a second signal, and after the grace
 * period if the work has not ended. `outcome` is the part of the log message that states what happens to the work.
 */
export function abortOnSignals(
  log: Log,
  outcome = 'received pages are kept',
): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController()
  const interrupt = (code: 'INTERRUPTED' | 'TERMINATED', name: string) => () => {
    const error = new ExportError(code, `${name} was received`)
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
