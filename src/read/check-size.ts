import { stat } from 'node:fs/promises'
import { ExportError } from '../core/errors.ts'

/** A file of an export: what the manifest calls it, where it lies, and the bytes that it is to have. */
export type Sized = { name: string; path: string; bytes: number }

/** Throws VERIFY_FAILED where a file is not there or has another size. */
export async function checkSize({ name, path, bytes }: Sized): Promise<void> {
  const found = await sizeOf(path)
  if (found === undefined) throw mismatch(name, 'it is not there')
  if (found !== bytes) throw mismatch(name, `expected ${bytes} bytes, found ${found}`)
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
