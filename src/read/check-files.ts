import { stat } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { hashFile } from '../core/platform/disk.ts'

/** A file of an export: what the manifest calls it, where it lies, and the bytes that it is to have. */
export type ExpectedFile = { name: string; path: string; bytes: number }

/** Throws VERIFY_FAILED where a file is not there or has another size. */
export async function checkSize({ name, path, bytes }: ExpectedFile): Promise<void> {
  const found = await sizeOf(path)
  if (found === undefined) throw mismatchError(name, 'it is not there')
  if (found !== bytes) throw mismatchError(name, `expected ${bytes} bytes, found ${found}`)
}

/** Files that this process has hashed, with what tells whether they have been written since. */
const verifiedFiles = new Map<string, string>()

/**
 * Throws VERIFY_FAILED where a file is not there or has other bytes than listed: a changed digit may leave the size as it
 * was. A file is hashed once while it is not written; that takes 0.5 s of a core for 400 MB.
 */
export async function checkContent({
  sha256,
  ...expected
}: ExpectedFile & { sha256: string }): Promise<void> {
  await checkSize(expected)
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(expected.path, { bigint: true })
  const key = `${dev} ${ino}`
  const version = [size, mtimeNs, ctimeNs, sha256].join(' ')
  if (verifiedFiles.get(key) === version) return
  const found = await hashFile(expected.path)
  if (found !== sha256) throw mismatchError(expected.name, `expected the SHA-256 ${sha256}, found ${found}`)
  verifiedFiles.set(key, version)
}

/** What is thrown where a file is not what its manifest says. */
export function mismatchError(name: string, problem: string): ExportError {
  return new ExportError('VERIFY_FAILED', `${name}: ${problem}`, {
    fix: 'Run walletlake verify on the output; copy it here again, or export it again with --fresh.',
  })
}

async function sizeOf(path: string): Promise<number | undefined> {
  const entry = await stat(path).catch(() => undefined)
  return entry?.isFile() ? entry.size : undefined
}
