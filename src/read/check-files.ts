import { stat } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { hashFile } from '../core/platform/disk.ts'

/** A file of an export: what the manifest calls it, where it lies, and the bytes that it is to have. */
export type Sized = { name: string; path: string; bytes: number }

/** Throws VERIFY_FAILED where a file is not there or has another size. */
export async function checkSize({ name, path, bytes }: Sized): Promise<void> {
  const found = await sizeOf(path)
  if (found === undefined) throw mismatch(name, 'it is not there')
  if (found !== bytes) throw mismatch(name, `expected ${bytes} bytes, found ${found}`)
}

/** Files that this process has hashed, with what tells whether they have been written since. */
const hashed = new Map<string, string>()

/**
 * Throws VERIFY_FAILED where a file is not there or has other bytes than listed: a changed digit may leave the size as it
 * was. A file is hashed once while it is not written; that takes 0.5 s of a core for 400 MB.
 */
export async function checkContent({ sha256, ...sized }: Sized & { sha256: string }): Promise<void> {
  await checkSize(sized)
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(sized.path, { bigint: true })
  const key = `${dev} ${ino}`
  const version = [size, mtimeNs, ctimeNs, sha256].join(' ')
  if (hashed.get(key) === version) return
  const found = await hashFile(sized.path)
  if (found !== sha256) throw mismatch(sized.name, `expected the SHA-256 ${sha256}, found ${found}`)
  hashed.set(key, version)
}

/** What is thrown where a file is not what its manifest says. */
export function mismatch(name: string, what: string): ExportError {
  return new ExportError('VERIFY_FAILED', `${name}: ${what}`, {
    fix: 'Run walletlake verify on the output; copy it here again, or export it again with --fresh.',
  })
}

async function sizeOf(path: string): Promise<number | undefined> {
  const entry = await stat(path).catch(() => undefined)
  return entry?.isFile() ? entry.size : undefined
}
