import { open } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'

/** What the databases of an engine have at a place near their beginning. */
const MARKS = {
  sqlite: { engine: 'SQLite', at: 0, mark: 'SQLite format 3\0' },
  duckdb: { engine: 'DuckDB', at: 8, mark: 'DUCK' },
} as const

/** Refuses to load into a file that is there and is not a database of this engine; nothing is made beside it. Throws LOAD_FAILED. */
export async function refuseStranger(kind: keyof typeof MARKS, file: string): Promise<void> {
  const { engine, at, mark } = MARKS[kind]
  const head = await headOf(file, at + mark.length)
  if (head === undefined || head.length === 0 || head.subarray(at).toString('latin1') === mark) return
  throw new ExportError(
    'LOAD_FAILED',
    `cannot open ${kind}:${file}: the file is not a database of ${engine}`,
    {
      fix: `Name a ${engine} database after ${kind}:, or a file that is not there yet.`,
    },
  )
}

/** The first bytes of a file; undefined where there is none that can be read: whoever opens it says why. */
async function headOf(file: string, length: number): Promise<Buffer | undefined> {
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
