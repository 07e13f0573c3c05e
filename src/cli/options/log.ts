import { ExportError } from '../../core/model/errors.ts'
import { createLog, type Log } from '../../terminal/log.ts'
import { type OptionValues, option } from '../command.ts'
import { programName } from '../program-name.ts'
import { abortOnSignals, type Interruption } from '../signals.ts'

/** Log options of commands that log no details. */
export const plainLogOptions = [
  option('log-format <format>', 'Format of the log on stderr', {
    choices: ['pretty', 'json'],
    default: 'pretty',
  }),
  option('quiet', 'Log errors only'),
]

/** Log options of commands. */
export const logOptions = [
  ...plainLogOptions,
  option('verbose', 'Also log every retry and rate-limited request'),
]

export type LogArguments = Partial<OptionValues<typeof logOptions>>

/** Opens the log of a command, by default on stderr. Fixes name the program as the user started it. */
export function openLog(
  { logFormat = 'pretty', quiet = false, verbose = false }: LogArguments,
  write = (line: string): unknown => process.stderr.write(`${line}\n`),
): Log {
  const log = createLog({ format: logFormat, level: quiet ? 'error' : verbose ? 'debug' : 'info', write })
  return { ...log, failure: (error) => log.failure(withProgramName(error)) }
}

function withProgramName({ code, lines, fix }: ExportError): ExportError {
  return new ExportError(code, lines, { fix: fix.replace(/\bwalletlake (?=[a-z-])/g, `${programName()} `) })
}

/** The log of a command, and what its requests need: a signal that SIGINT and SIGTERM trigger, and where they report. */
export type CommandTools = {
  log: Log
  signal: AbortSignal
  requests: { signal: AbortSignal; onDetail: Log['debug']; onNotice: Log['info'] }
}

/** Runs `work` with a log on stderr. */
export async function withSignals<T>(
  { interruption, ...args }: LogArguments & { interruption?: Interruption | undefined },
  work: (tools: CommandTools) => Promise<T>,
): Promise<T> {
  const log = openLog(args)
  const { signal, dispose } = abortOnSignals(log, interruption)
  try {
    return await work({ log, signal, requests: { signal, onDetail: log.debug, onNotice: log.info } })
  } finally {
    dispose()
  }
}

/** Logs progress messages at level info at most every 5 s. Messages in between are logged at level debug. */
export function throttledProgress(log: Log): (message: string) => void {
  let loggedMs = Date.now()
  return (message) => {
    if (Date.now() - loggedMs < PROGRESS_INTERVAL_MS) return log.debug(message)
    loggedMs = Date.now()
    log.info(message)
  }
}

const PROGRESS_INTERVAL_MS = 5_000
