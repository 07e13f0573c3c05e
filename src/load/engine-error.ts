import { ExportError } from '../core/model/errors.ts'
import { createRedactor } from '../core/platform/secrets.ts'

/** Converts an engine's error to LOAD_FAILED with a one-line message from which the secrets are removed. */
export function engineError(
  operation: string,
  cause: unknown,
  { secrets = [], fix }: { secrets?: readonly string[]; fix?: string } = {},
): ExportError {
  if (cause instanceof ExportError) return cause
  const { code, message = String(cause) } = (cause ?? {}) as NodeJS.ErrnoException
  const text = message === '' ? (code ?? 'unknown error') : message
  const redact = createRedactor(secrets)
  const line = redact(text.split('\n', 1)[0] ?? '').slice(0, 400)
  const effectiveFix =
    fix ?? (DUCKDB_OUT_OF_MEMORY.test(text) ? MORE_MEMORY_FIX : isDiskFull(text) ? NO_SPACE_FIX : undefined)
  return new ExportError(
    'LOAD_FAILED',
    `${redact(operation)}: ${line}`,
    effectiveFix === undefined ? {} : { fix: effectiveFix },
  )
}

/** Whether an engine's message reports a full disk. */
export const isDiskFull = (text: string): boolean => /no space left|quota exceeded|disk is full/i.test(text)
export const NO_SPACE_FIX =
  'Free space on the disks of the database and of TMPDIR, then run the same command again. The load resumes where it stopped.'

/** Matches DuckDB's messages for insufficient memory while reading, writing or committing. */
const DUCKDB_OUT_OF_MEMORY = /Out of Memory Error|failed to (?:pin block|allocate data)/
const MORE_MEMORY_FIX = 'Run the same command again with more memory, such as --memory 1GB.'

/** Imports an engine's driver. If it is not installed, throws LOAD_FAILED with the command that installs it. */
export async function importDriver<T>(packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ExportError('LOAD_FAILED', `the driver ${packages} is not installed`, {
      cause,
      fix: `Run npm install ${packages}, then run the same command again.`,
    })
  }
}
