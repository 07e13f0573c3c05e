import type { ExportError, FailureCode } from '../core/model/errors.ts'
import { redactSecrets, redactUrlPasswords } from '../core/platform/secrets.ts'

export type LogFormat = 'pretty' | 'json'
type Level = 'error' | 'warn' | 'info' | 'debug'

export type LogOptions = {
  format: LogFormat
  /** The least important level that is written. */
  level: Level
  /** Takes one line without its end. */
  write: (line: string) => void
}

export type Log = {
  /** Something to see to, though nothing failed: it is said however quiet the log is. */
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
  /** `CODE: what happened`, then `fix: what to do`. */
  failure(error: ExportError): void
}

const LEVEL_RANK: Record<Level, number> = { error: 0, warn: 0, info: 1, debug: 2 }

/**
 * Log lines for people or as JSON objects, one a line. Secrets that were read never appear. Control characters and line breaks are
 * replaced visibly, whoever wrote them, so that no text moves a cursor or looks like a line of this program.
 */
export function createLog({ format, level, write }: LogOptions): Log {
  const line = (messageLevel: Level, message: string) => {
    if (LEVEL_RANK[messageLevel] > LEVEL_RANK[level]) return
    const text = sanitize(message)
    write(
      format === 'json'
        ? JSON.stringify({ time: new Date().toISOString(), level: messageLevel, message: text })
        : text,
    )
  }
  return {
    warn: (message) => line('warn', message),
    info: (message) => line('info', message),
    debug: (message) => line('debug', message),
    failure: ({ code, lines, fix }) => {
      const message = formatFailure(code, lines)
      if (format === 'json') {
        const fields = { code, message, fix: sanitize(fix) }
        write(JSON.stringify({ time: new Date().toISOString(), level: 'error', ...fields }))
      } else write(`${code}: ${message}\nfix: ${sanitize(fix)}`)
    },
  }
}

const sanitize = (text: string) => oneLine(redactUrlPasswords(redactSecrets(text)))

/**
 * Each mistake of a job begins with the code, as the first does; lines that continue one, and those of other failures, are
 * indented. A line break within a line is text from elsewhere.
 */
function formatFailure(code: FailureCode, lines: readonly string[]): string {
  const prefix = code === 'JOB_INVALID' ? `${code}: ` : '  '
  return lines
    .map(sanitize)
    .map((line, at) => (at === 0 || line.startsWith('  ') ? line : `${prefix}${line}`))
    .join('\n')
}

/** Strangers' text without what moves a cursor, rings, hides or turns the direction of text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) => (char === '\n' ? char : '\ufffd'))
}

/** Printable text in one line: a stranger's line end begins none of ours. */
export const oneLine = (text: string) => printable(text).replaceAll('\n', '\ufffd')
