import type { ExportError } from '../core/errors.ts'
import { withoutSecrets, withoutUrlPasswords } from '../core/secrets.ts'

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

const RANK: Record<Level, number> = { error: 0, warn: 0, info: 1, debug: 2 }

/** Log lines for people or as JSON objects, one a line. Control characters and secrets that were read never reach a terminal. */
export function createLog({ format, level, write }: LogOptions): Log {
  const line = (at: Level, message: string) => {
    if (RANK[at] > RANK[level]) return
    const text = shown(message)
    write(
      format === 'json' ? JSON.stringify({ time: new Date().toISOString(), level: at, message: text }) : text,
    )
  }
  return {
    warn: (message) => line('warn', message),
    info: (message) => line('info', message),
    debug: (message) => line('debug', message),
    failure: ({ code, message, fix }) => {
      if (format === 'json') {
        const about = { code, message: shown(message), fix: shown(fix) }
        write(JSON.stringify({ time: new Date().toISOString(), level: 'error', ...about }))
      } else write(`${code}: ${shown(message)}\nfix: ${shown(fix)}`)
    },
  }
}

const shown = (text: string) => printable(withoutUrlPasswords(withoutSecrets(text)))

/** Strangers' text without what moves a cursor, rings, hides or turns the direction of text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) => (char === '\n' ? char : '\ufffd'))
}

/** Printable text in one line: a stranger's line end begins none of ours. */
export const oneLine = (text: string) => printable(text).replaceAll('\n', '\ufffd')
