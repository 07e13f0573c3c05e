import {
  assertNotFolder,
  type ProtectedPaths,
  resolveOutputPath,
  writeNamedFile,
} from '../core/platform/user-file.ts'
import type { ResultSink } from '../terminal/write-query-result.ts'
import { fileOf } from './options/file-format.ts'
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
  const file = fileOf(out)
  if (file === undefined) return openStdout(isBinary)
  const path = await resolveOutputPath(file, protectedPaths, 'Name a file, or omit --out to write to stdout.')
  await assertNotFolder(file)
  const parts: Uint8Array[] = []
  return {
    write: (text) => void parts.push(Buffer.from(text)),
    writeBytes: async (bytes) => void parts.push(bytes),
    close: () => writeNamedFile(path, Buffer.concat(parts)),
  }
}

function openStdout(isBinary: boolean): ResultFile {
  return {
    ...stdoutWriter(),
    writeBytes: isBinary ? workbookWriter() : async () => {},
    close: async () => {},
  }
}

/** Returns a function that writes a workbook to stdout. Throws USAGE if that is a terminal. */
export function workbookWriter(): (bytes: Uint8Array) => Promise<void> {
  if (process.stdout.isTTY)
    throw usageError('a workbook cannot be shown on a terminal', 'Name a file with --out, or use a pipe.')
  return (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve()))
}
