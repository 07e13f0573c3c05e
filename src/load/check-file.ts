import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import type { ManifestFile } from '../core/model/manifest.ts'
import { hashFile } from '../core/platform/disk.ts'
import { checkSize, mismatchError } from '../read/check-files.ts'
import { headerOf } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Checks a file's size and hash against the manifest, and a CSV header against the table. Throws VERIFY_FAILED. */
export async function checkFile(
  local: Omit<LocalFile, 'readable' | 'rows'>,
  listed: ManifestFile,
): Promise<void> {
  const { name, path, format, table } = local
  await checkSize({ name, path, bytes: listed.bytes })
  const sha256 = await hashFile(path)
  if (sha256 !== listed.sha256)
    throw mismatchError(name, `expected the SHA-256 ${listed.sha256}, found ${sha256}`)
  if (format === 'parquet') return
  const header = await firstLine(path)
  if (header !== headerOf(table))
    throw mismatchError(name, `expected the header ${headerOf(table)}, found ${header}`)
}

/** Reads the first line, up to the maximum length of a header. */
async function firstLine(path: string): Promise<string> {
  const file = createReadStream(path)
  const decompressed = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  let text = ''
  try {
    for await (const chunk of decompressed) {
      text += (chunk as Buffer).toString('latin1')
      if (text.includes('\n') || text.length > MAX_HEADER_CHARACTERS) break
    }
    return text.slice(0, MAX_HEADER_CHARACTERS).split(/\r?\n/, 1)[0] ?? ''
  } finally {
    decompressed.destroy()
    file.destroy()
  }
}

const MAX_HEADER_CHARACTERS = 10_000
