import type { ExportError, FailureCode } from '../core/model/errors.ts'
import { redactSecrets, redactUrlPasswords } from '../core/platform/secrets.ts'

type LogFormat = 'pretty' | 'json'
type Level = 'error' | 'warn' | 'info' | 'debug'

export type LogOptions = {
  format: LogFormat
  /** The least important level that is written. */
  level: Level
  /** Writes one line; receives it without a line break. */
  write: (line: string) => void
}

export type Log = {
  /** Problems that need attention although nothing failed. Written at every log level. */
  warn(messages: string | readonly string[]): void
  info(messages: string | readonly string[]): void
  debug(messages: string | readonly string[]): void
  /** Writes `CODE: what happened`, then `fix: what to do`. */
  failure(error: ExportError): void
}

const LEVEL_RANK: Record<Level, number> = { error: 0, warn: 0, info: 1, debug: 2 }

/**
 * Writes log lines as text or as one JSON object per line. Registered secrets are redacted. Control
 * characters and line breaks are replaced by visible characters, whatever their source, so that no text can
 * move the cursor or imitate a log line.
 */
export function createLog({ format, level, write }: LogOptions): Log {
  const writeLine = (messageLevel: Level, fields: object, text: string) =>
    write(
      format === 'json'
        ? JSON.stringify({ time: new Date().toISOString(), level: messageLevel, ...fields })
        : text,
    )
  const writeAll = (messageLevel: Level) => (messages: string | readonly string[]) => {
    if (LEVEL_RANK[messageLevel] > LEVEL_RANK[level]) return
    for (const message of [messages].flat().map(sanitize)) writeLine(messageLevel, { message }, message)
  }
  return {
    warn: writeAll('warn'),
    info: writeAll('info'),
    debug: writeAll('debug'),
    failure: ({ code, lines, fix: given }) => {
      const [message, fix] = [formatFailure(code, lines), sanitize(given)]
      writeLine('error', { code, message, fix }, `${code}: ${message}\nfix: ${fix}`)
    },
  }
}

const sanitize = (text: string) => oneLine(redactUrlPasswords(redactSecrets(text)))

/**
 * Each error of a job file starts with the code. Continuation lines, and further lines of other failures, are
 * indented. A line break within a line comes from external text.
 */
function formatFailure(code: FailureCode, lines: readonly string[]): string {
  const prefix = code === 'JOB_INVALID' ? `${code}: ` : '  '
  return lines
    .map(sanitize)
    .map((line, at) => (at === 0 || line.startsWith('  ') ? line : `${prefix}${line}`))
    .join('\n')
}

/**
 * Removes characters from untrusted text that move the cursor, ring the bell, hide text or change its
 * direction.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) => (char === '\n' ? char : '\ufffd'))
}

/** Printable text on one line, so that untrusted text cannot start a line of its own. */
export const oneLine = (text: string) => printable(text).replaceAll('\n', '\ufffd')
