import {
  assertNotFolder,
  type ProtectedPaths,
  resolveOutputPath,
  writeNamedFile,
} from '../core/platform/user-file.ts'
import type { ResultSink } from '../terminal/write-query-result.ts'
import { stdoutWriter } from './stdout-writer.ts'
import { usageError } from './usage-error.ts'

/** A result that is written to a file, or to stdout. */
type ResultFile = ResultSink & {
  writeBytes(bytes: Uint8Array): Promise<void>
  /** Replaces the file by what was written. */
  close(): Promise<void>
}

type ResultFileOptions = { out: string | undefined; protectedPaths: ProtectedPaths; isBinary: boolean }

/**
 * Opens the file that `--out` names, or stdout. Throws USAGE if the file is protected, or if binary data would go to a
 * terminal; OUTPUT_FAILED if `out` is a folder.
 */
export async function openResultFile({
  out,
  protectedPaths,
  isBinary,
}: ResultFileOptions): Promise<ResultFile> {
  if (out === undefined) return openStdout(isBinary)
  const path = await resolveOutputPath(out, protectedPaths, 'Name a file, or omit --out to write to stdout.')
  await assertNotFolder(out)
  const parts: Uint8Array[] = []
  return {
    write: (text) => void parts.push(Buffer.from(text)),
    writeBytes: async (bytes) => void parts.push(bytes),
    close: () => writeNamedFile(path, Buffer.concat(parts)),
  }
}

function openStdout(isBinary: boolean): ResultFile {
  const writer = stdoutWriter()
  if (isBinary && process.stdout.isTTY)
    throw usageError('a workbook cannot be shown on a terminal', 'Name a file with --out.')
  return {
    ...writer,
    writeBytes: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
    close: async () => {},
  }
}
