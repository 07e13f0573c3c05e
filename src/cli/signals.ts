import { ExportError } from '../core/model/errors.ts'
import type { Log } from '../terminal/log.ts'

/** How long an interrupted run may take to put its state in order, in milliseconds. */
const SHUTDOWN_GRACE_MS = 4_000

/** Resolves when the user wants what is served to end. */
export function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

/**
 * Turns SIGINT and SIGTERM into an abort; a second one, or a run that does not end in time, ends the process at once.
 * `outcome` says what becomes of the work.
 */
export function abortOnSignals(
  log: Log,
  outcome = 'what was received is kept',
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
