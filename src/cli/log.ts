import type { Argv } from 'yargs'

import { createLog, type Log, type LogFormat } from '../report/log.ts'
import { onSignals } from './signals.ts'

/** What a command says on stderr while it works. */
export type LogArguments = { logFormat?: LogFormat | undefined; quiet: boolean; verbose: boolean }

/** The options of that. */
export function logOptions<T>(argv: Argv<T>) {
  return argv
    .option('log-format', {
      choices: ['pretty', 'json'] as const,
      default: 'pretty' as const,
      describe: 'form of the lines on stderr',
    })
    .option('quiet', { type: 'boolean', default: false, describe: 'errors only' })
    .option('verbose', { type: 'boolean', default: false, describe: 'every retry and refusal too' })
}

/** Does work that a signal ends, with its log on stderr. */
export async function withSignals<T>(
  { logFormat = 'pretty', quiet, verbose }: LogArguments,
  work: (tools: { log: Log; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const log = createLog({
    format: logFormat,
    level: quiet ? 'error' : verbose ? 'debug' : 'info',
    write: (line) => process.stderr.write(`${line}\n`),
  })
  const stop = onSignals(log)
  try {
    return await work({ log, signal: stop.signal })
  } finally {
    stop.forget()
  }
}

/** Long work's progress: a line every few seconds, the others only where every detail is wanted. */
export function progressOn(log: Log): (message: string) => void {
  let toldMs = Date.now()
  return (message) => {
    if (Date.now() - toldMs < PROGRESS_EVERY_MS) return log.debug(message)
    toldMs = Date.now()
    log.info(message)
  }
}

const PROGRESS_EVERY_MS = 5_000
