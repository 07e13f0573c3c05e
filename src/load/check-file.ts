import type { ManifestFile } from '../core/model/manifest.ts'
import { hashFile } from '../core/platform/disk.ts'
import { FORMATS } from '../formats/index.ts'
import { readHeader } from '../formats/read-header.ts'
import { checkSize, mismatchError } from '../read/check-files.ts'
import type { LocalFile } from './target.ts'

/** Checks a file's size and hash against the manifest, and its header, if any, against the table. Throws VERIFY_FAILED. */
export async function checkFile(
  local: Omit<LocalFile, 'readable' | 'rows'>,
  listed: ManifestFile,
): Promise<void> {
  const { name, path, format, table } = local
  await checkSize({ name, path, bytes: listed.bytes })
  const sha256 = await hashFile(path)
  if (sha256 !== listed.sha256)
    throw mismatchError(name, `expected the SHA-256 ${listed.sha256}, found ${sha256}`)
  const expected = FORMATS[format].header?.(table.columns)
  if (expected === undefined) return
  const found = await readHeader(path)
  if (found !== expected)
    throw mismatchError(name, `expected the header ${expected}, found ${found ?? 'none'}`)
}
