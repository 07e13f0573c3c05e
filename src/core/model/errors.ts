import { redactUrlPasswords } from '../platform/secrets.ts'

/**
 * All failures, by code. Exit codes, retry decisions and fixes derive from this table.
 *
 * `exit`: exit code of the process (CONTRACT section 4). `retry`: the same request may succeed later.
 *
 * @example
 * ```ts
 * if (error instanceof ExportError) process.exitCode = FAILURES[error.code].exit
 * ```
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
    fix: 'Run with --fresh to discard the unfinished run, or give this job another output.',
  },
  KEY_REFUSED: {
    exit: 3,
    retry: false,
    fix: 'Set WALLETLAKE_API_KEY (or WALLETLAKE_API_KEY_FILE) to a key that the service accepts.',
  },
  REQUEST_REFUSED: {
    exit: 4,
    retry: false,
    fix: 'Check the chain, addresses and block range of the job, and the base URL.',
  },
  BALANCES_UNAVAILABLE: {
    exit: 4,
    retry: false,
    fix: 'Name another service of the same chain with --base-url. This says nothing about the export: check it with walletlake verify.',
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
    fix: 'Check the address of the queue and that it is running, then run the same command again: it resumes.',
  },
  TASKS_FAILED: {
    exit: 5,
    retry: false,
    fix: 'Correct what the message names, then run the same command again: it exports only what is missing.',
  },
  WALLETS_REFUSED: {
    exit: 6,
    retry: false,
    fix: 'Check the refused wallets with the service, then run the same command again: it requests only what is missing.',
  },
  LISTINGS_INCOMPLETE: {
    exit: 6,
    retry: false,
    fix: 'Run the same command again later: it requests what is missing. manifest.json lists it (coverage[].gaps). If the explorer does not offer a listing at all, name another service with another --output.',
  },
  CLOCK_BEHIND: {
    exit: 6,
    retry: false,
    fix: "Correct this machine's clock, then run the same command again: it continues. If the chain's time is ahead, set endBlock.",
  },
  RECORDS_REJECTED: {
    exit: 6,
    retry: false,
    fix: 'rejects.ndjson in the output lists each record with the reason. When the service returns them correctly, run with --lookback or --fresh to read them again.',
  },
  ANSWERS_DIFFER: {
    exit: 6,
    retry: false,
    fix: 'A server of the service may lag behind. Run the same command again: it reads these blocks once more.',
  },
  BLOCKS_MISSING: {
    exit: 6,
    retry: false,
    fix: 'Run the same command again later: it requests only the missing blocks. manifest.json lists them.',
  },
  OUTPUT_FAILED: {
    exit: 7,
    retry: false,
    fix: 'Check the free space and the permissions of the output folder, then run again: it resumes.',
  },
  LOAD_FAILED: {
    exit: 7,
    retry: false,
    fix: 'Correct what the message names, then run the same command again: it resumes where it stopped.',
  },
  CATALOG_FAILED: {
    exit: 7,
    retry: false,
    fix: 'The files of the export are complete. Correct what the message names, then run the same command again: it commits what the catalog lacks.',
  },
  OUTPUT_LOCKED: { exit: 8, retry: false, fix: 'Wait for the other run to end, or stop it.' },
  BUDGET_REACHED: {
    exit: 9,
    retry: false,
    fix: 'Run the same command again later: it resumes where it stopped.',
  },
  VERIFY_FAILED: {
    exit: 10,
    retry: false,
    fix: 'Do not use these files. Run the job again, which writes what the checkpoint still has; if that does not help, export with --fresh.',
  },
  INTERRUPTED: { exit: 130, retry: false, fix: 'Run the same command again: it resumes where it stopped.' },
  TERMINATED: { exit: 143, retry: false, fix: 'Run the same command again: it resumes where it stopped.' },
} as const satisfies Record<string, Failure>

/** Exit code, whether a retry can succeed, and the default advice. */
export type Failure = { exit: number; retry: boolean; fix: string }
/** The code of a failure, such as `RATE_LIMITED`. */
export type FailureCode = keyof typeof FAILURES

/** Details of an `ExportError`, besides its code and message. */
export type ExportErrorOptions = {
  /** The original error; never printed. */
  cause?: unknown
  /** Advice that replaces the default one in `FAILURES`. */
  fix?: string | undefined
  /** Delay that the service requested with `Retry-After`, in milliseconds. */
  retryAfterMs?: number
  /** HTTP status of the response, if there was one. */
  status?: number
  /** The request may have taken effect although no valid response to it arrived. */
  mayHaveActed?: boolean
  /**
   * No retry can succeed until something is changed, unless the service has returned a valid response before.
   */
  isPermanent?: boolean
}

/**
 * The only error class that public functions throw. Its message never contains an API key or a query string.
 */
export class ExportError extends Error {
  readonly code: FailureCode
  readonly fix: string
  /**
   * The message as separate lines. Text from other sources may contain line breaks of its own within a line.
   */
  readonly lines: readonly string[]
  readonly retryAfterMs: number | undefined
  readonly status: number | undefined
  /** Whether a request that changes something may have taken effect although it failed. */
  readonly mayHaveActed: boolean
  /**
   * Whether no retry can succeed until something is changed, unless the service has returned a valid response
   * before.
   */
  readonly isPermanent: boolean

  /**
   * @param code Selects the exit code and the default advice.
   * @param message The message, or its lines. Credentials in URLs are redacted.
   */
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

/**
 * Converts anything thrown to an `ExportError`: file system errors become OUTPUT_FAILED, everything else
 * unknown a BUG.
 */
export function toExportError(error: unknown): ExportError {
  if (error instanceof ExportError) return error
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const message = error instanceof Error ? error.message : String(error)
  if (typeof code === 'string' && DISK_CODES.has(code))
    return new ExportError('OUTPUT_FAILED', message, { cause: error, fix: diskFix(code) })
  return new ExportError('BUG', message, { cause: error })
}

const DISK_CODES = new Set([
  'ENOSPC',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EISDIR',
  'EIO',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'EEXIST',
  'ENOTEMPTY',
  'EFBIG',
  'ELOOP',
  'ENAMETOOLONG',
  'EXDEV',
  'EBUSY',
])

/** The advice for a file system error code; undefined if the default advice applies. */
export const diskFix = (code = ''): string | undefined => DISK_FIXES[code]

const PATH_FIX = 'Check the path: a folder in it does not exist or is a file.'
export const PERMISSION_FIX = 'Check the permissions of the path, then run again.'
const OPEN_FILES_FIX = 'Raise the limit on open files (ulimit -n 4096) and run again: it resumes.'
const DISK_FIXES: Readonly<Record<string, string>> = {
  ELOOP: 'Remove the symbolic link: a regular file or folder belongs there.',
  EMFILE: OPEN_FILES_FIX,
  ENFILE: OPEN_FILES_FIX,
  ENOENT: PATH_FIX,
  ENOTDIR: PATH_FIX,
  EEXIST: 'Name a folder: this is a file, or move the file away.',
  EISDIR: 'Name a file: this is a folder.',
  EACCES: PERMISSION_FIX,
  EPERM: PERMISSION_FIX,
  EROFS: PERMISSION_FIX,
}
