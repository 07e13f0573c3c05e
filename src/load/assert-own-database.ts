import { open } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'

/** The magic bytes of each engine's database files, with their offset. */
const MAGIC_BYTES = {
  sqlite: { engine: 'SQLite', offset: 0, magic: 'SQLite format 3\0' },
  duckdb: { engine: 'DuckDB', offset: 8, magic: 'DUCK' },
} as const

/**
 * Throws LOAD_FAILED if the file exists, is not empty and is not a database of this engine. Runs before anything is
 * created next to the file.
 */
export async function assertOwnDatabase(kind: keyof typeof MAGIC_BYTES, file: string): Promise<void> {
  const { engine, offset, magic } = MAGIC_BYTES[kind]
  const start = await readStart(file, offset + magic.length)
  if (start === undefined || start.length === 0 || start.subarray(offset).toString('latin1') === magic) return
  throw new ExportError('LOAD_FAILED', `cannot open ${kind}:${file}: the file is not a ${engine} database`, {
    fix: `Name a ${engine} database after ${kind}:, or a file that does not exist yet.`,
  })
}

/** Reads the first bytes of a file; undefined if it cannot be read, because opening the database reports the reason. */
async function readStart(file: string, length: number): Promise<Buffer | undefined> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.subarray(0, bytesRead)
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}
