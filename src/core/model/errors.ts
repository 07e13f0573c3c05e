import { redactUrlPasswords } from '../platform/secrets.ts'

/**
 * The one table of failures. Exit codes, retry decisions, fixes on stderr and the list in jobs/README.md derive from it.
 *
 * `retry`: the same request may succeed later. `exit`: the process's exit code (CONTRACT section 4).
 */
export const FAILURES = {
  BUG: { exit: 1, retry: false, fix: 'This is a bug in walletlake. Please report it with this message.' },
  USAGE: { exit: 2, retry: false, fix: 'Run walletlake --help to see the commands and their options.' },
  JOB_INVALID: {
    exit: 2,
    retry: false,
    fix: 'Correct the lines named above. `walletlake schema job` prints the format.',
  },
  OUTPUT_CHANGED: {
    exit: 2,
    retry: false,
    fix: 'Run with --fresh to forget the unfinished run, or give this job another output.',
  },
  KEY_REFUSED: {
    exit: 3,
    retry: false,
    fix: 'Set WALLETLAKE_API_KEY (or WALLETLAKE_API_KEY_FILE) to a key that the service accepts.',
  },
  REQUEST_REFUSED: {
    exit: 4,
    retry: false,
    fix: 'Check chain, addresses and block range of the job, and the base URL, against the service.',
  },
  SERVICE_UNAVAILABLE: {
    exit: 5,
    retry: true,
    fix: 'Run the same command again: it resumes where it stopped.',
  },
  PAGE_MALFORMED: { exit: 5, retry: true, fix: 'Run the same command again: it resumes where it stopped.' },
  RATE_LIMITED: {
    exit: 5,
    retry: true,
    fix: 'Run the same command again later: it resumes where it stopped.',
  },
  QUEUE_UNAVAILABLE: {
    exit: 5,
    retry: true,
    fix: 'Check the address, and that the queue runs, then run the same command again: it resumes.',
  },
  UNITS_FAILED: {
    exit: 5,
    retry: false,
    fix: 'Mend what the message names, then run the same command again: only what is missing is done.',
  },
  WALLETS_REFUSED: {
    exit: 6,
    retry: false,
    fix: 'Check the refused wallets against the service, then run the same command again: it asks for what they lack.',
  },
  CLOCK_BEHIND: {
    exit: 6,
    retry: false,
    fix: "Correct this machine's clock, then run the same command again: it reads on. If the chain's time is ahead, set endBlock.",
  },
  RECORDS_REJECTED: {
    exit: 6,
    retry: false,
    fix: 'Look into rejects.ndjson in the output: each line holds a record and the reason.',
  },
  BLOCKS_MISSING: {
    exit: 6,
    retry: false,
    fix: 'Run the same command again later: it asks for the missing blocks only. manifest.json lists them.',
  },
  OUTPUT_FAILED: {
    exit: 7,
    retry: false,
    fix: 'Check the free space and the permissions of the output folder, then run again: it resumes.',
  },
  LOAD_FAILED: {
    exit: 7,
    retry: false,
    fix: 'Correct what the message names, then run the same command again: it goes on where it stopped.',
  },
  OUTPUT_LOCKED: { exit: 8, retry: false, fix: 'Wait for the other run to end, or stop it.' },
  BUDGET_REACHED: {
    exit: 9,
    retry: false,
    fix: 'Run the same command again later: it resumes where it stopped.',
  },
  VERIFY_FAILED: { exit: 10, retry: false, fix: 'Export again with --fresh; do not use these files.' },
  INTERRUPTED: { exit: 130, retry: false, fix: 'Run the same command again: it resumes where it stopped.' },
  TERMINATED: { exit: 143, retry: false, fix: 'Run the same command again: it resumes where it stopped.' },
} as const satisfies Record<string, Failure>

/** What a failure means to a process: its exit code, whether to try again, and what to do about it. */
export type Failure = { exit: number; retry: boolean; fix: string }
/** The names of all failures. */
export type FailureCode = keyof typeof FAILURES

/** What an error carries besides its code and message. */
export type ExportErrorOptions = {
  /** What was thrown underneath; never printed as it is. */
  cause?: unknown
  /** What to do instead of the table's general advice. */
  fix?: string | undefined
  /** How long the service asked to wait, in milliseconds (Retry-After). */
  retryAfterMs?: number
  /** HTTP status of the answer, where there was one. */
  status?: number
  /** The request may have been carried out although no good answer to it came. */
  mayHaveActed?: boolean
  /** No try can succeed until something is changed, unless the service has answered before. */
  isPermanent?: boolean
}

/** The only error that leaves a room. Its message never holds a key or a query string. */
export class ExportError extends Error {
  readonly code: FailureCode
  readonly fix: string
  /** The message in the lines that this program made; text from elsewhere may hold line breaks of its own. */
  readonly lines: readonly string[]
  readonly retryAfterMs: number | undefined
  readonly status: number | undefined
  /** True where a request that changes something may have been carried out although it failed. */
  readonly mayHaveActed: boolean
  /** True where no try can succeed until something is changed, unless the service has answered before. */
  readonly isPermanent: boolean

  /** `what`: the message, or its lines. */
  constructor(code: FailureCode, message: string | readonly string[], options: ExportErrorOptions = {}) {
    const lines = [message].flat().map(redactUrlPasswords)
    super(lines.join('\n'), { cause: options.cause })
    this.name = 'ExportError'
    this.lines = lines
    this.code = code
    this.fix = redactUrlPasswords(options.fix ?? FAILURES[code].fix)
    this.retryAfterMs = options.retryAfterMs
    this.status = options.status
    this.mayHaveActed = options.mayHaveActed ?? false
    this.isPermanent = options.isPermanent ?? false
  }

  get failure(): Failure {
    return FAILURES[this.code]
  }
}

/** Gives a foreign throw its code: an error of ours passes, a disk error is the output's, the rest is a bug. */
export function toExportError(thrown: unknown): ExportError {
  if (thrown instanceof ExportError) return thrown
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  if (typeof code === 'string' && DISK_CODES.has(code))
    return new ExportError('OUTPUT_FAILED', message, { cause: thrown, fix: diskFix(code) })
  return new ExportError('BUG', message, { cause: thrown })
}

const DISK_CODES = new Set([
  ...['ENOSPC', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EIO', 'EDQUOT', 'EMFILE', 'ENFILE'],
  ...['ENOENT', 'EEXIST', 'ENOTEMPTY', 'EFBIG', 'ELOOP', 'ENAMETOOLONG', 'EXDEV', 'EBUSY'],
])

/** What to do about a fault by the system's word for it, where the failure's usual fix is not it. */
export const diskFix = (code = ''): string | undefined => DISK_FIXES[code]

const PATH_FIX = 'Check the path: a folder of it is not there, or is a file.'
export const PERMISSION_FIX = 'Check who may read and write there, then run again.'
const OPEN_FILES_FIX = 'Raise the limit of open files (ulimit -n 4096) and run again: it resumes.'
const DISK_FIXES: Readonly<Record<string, string>> = {
  ELOOP: 'Remove the symbolic link: a regular file or folder belongs there.',
  EMFILE: OPEN_FILES_FIX,
  ENFILE: OPEN_FILES_FIX,
  ENOENT: PATH_FIX,
  ENOTDIR: PATH_FIX,
  EEXIST: PATH_FIX,
  EISDIR: 'Name a file: this is a folder.',
  EACCES: PERMISSION_FIX,
  EPERM: PERMISSION_FIX,
  EROFS: PERMISSION_FIX,
}
