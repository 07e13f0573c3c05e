import { readFile, stat } from 'node:fs/promises'
import { readStart } from '../../core/platform/disk.ts'
import {
  decodeText,
  detectEncoding,
  type Encoding,
  firstInvalidLine,
  INVALID_UTF16,
  TEXT_EXPECTED,
} from '../../core/platform/text-encoding.ts'
import { NO_SUCH_FILE, type ReportDiagnostic } from '../diagnostics.ts'

/**
 * Maximum size of a job file in bytes, enough for about 160,000 addresses. The YAML parser needs 50 times as much memory.
 * More addresses belong in an `addressesFile`, which is streamed.
 */
export const MAX_JOB_FILE_BYTES = 8 * 1024 * 1024

/**
 * Reads the text of a job file, without byte order mark and with `\n` line ends. Returns undefined after reporting a
 * diagnostic.
 */
export async function readJobText(file: string, report: ReportDiagnostic): Promise<string | undefined> {
  const problem = await validateFile(file, MAX_JOB_FILE_BYTES, JOB_FILE_EXPECTED)
  const bytes = problem === undefined ? await readFile(file).catch(describeReadError) : problem
  if (!(bytes instanceof Uint8Array))
    return void report({ location: { file, line: 1, column: 1 }, ...bytes, isUnreadable: true })
  const decoded = decodeText(bytes)
  if ('text' in decoded) return decoded.text.replaceAll(/\r\n?/g, '\n')
  const location = { file, line: firstInvalidLine(bytes), column: 1 }
  return void report({ location, found: decoded.found, expected: TEXT_EXPECTED })
}

const JOB_FILE_EXPECTED = 'a job file (for an output, name the job file that wrote it)'

/** Detects the encoding of a file from its first bytes. */
export const readEncoding = async (file: string): Promise<Encoding> =>
  detectEncoding(await readStart(file, 4))

/** Reason why a file cannot be read, in the form of a diagnostic. */
export type FileProblem = { readonly found: string; readonly expected: string }

/**
 * Checks that a file exists, is a regular file and has at most `maxBytes` bytes. Returns undefined if it does. `expected`
 * is what to name in place of a directory.
 */
export async function validateFile(
  file: string,
  maxBytes: number,
  expected = 'a file',
): Promise<FileProblem | undefined> {
  const stats = await stat(file).catch(describeReadError)
  if ('found' in stats) return stats
  if (stats.isDirectory()) return { found: 'a directory', expected }
  if (!stats.isFile()) return { found: 'something other than a regular file', expected: 'a file' }
  if (stats.size <= maxBytes) return undefined
  return { found: `a file of ${stats.size} bytes`, expected: `at most ${maxBytes} bytes` }
}

/** Converts an error of `stat` or a read to the form of a diagnostic. */
export function describeReadError(error: unknown): FileProblem {
  const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  if (code === 'ENOENT' || code === 'ENOTDIR') return { found: NO_SUCH_FILE, expected: 'a file that exists' }
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { found: INVALID_UTF16, expected: TEXT_EXPECTED }
  return { found: `a file that cannot be read (${code})`, expected: 'a readable file' }
}
