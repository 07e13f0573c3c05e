import { chmod, copyFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Database } from 'node-sqlite3-wasm'
import { ExportError } from '../../core/model/errors.ts'
import { diskError, makeFolder, publishFile } from '../../core/platform/disk.ts'
import { entryAt, isFolder } from '../../core/platform/entry.ts'
import { lockOutput } from '../../core/platform/lock/lock.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import type { Table } from '../../core/table/index.ts'
import type { TextRow } from '../../read/scratch-database.ts'
import { DIALECTS } from '../ddl/dialects.ts'
import { columnList } from '../ddl/tables.ts'
import { engineError, importDriver } from '../engine-error.ts'
import type { Reader } from '../reader.ts'
import type { Engine } from '../target.ts'

/** SQLite has no types for times and booleans, and its driver truncates text at U+0000. */
const CELL_FORMATS = { replaceNul: true, timeAsText: true, boolAsNumber: true } as const

/**
 * Opens a SQLite file. The driver's locks are not compatible with those of other programs and outlive a killed process.
 * The load therefore writes to a copy in a folder next to the database and renames it into place at the end: other
 * programs see either the old or the new file. An interrupted load leaves only that folder, which the next load clears.
 */
export async function openSqlite(file: string, reader: Reader): Promise<Engine> {
  const { default: driver } = await importDriver('node-sqlite3-wasm', () => import('node-sqlite3-wasm'))
  const folder = `${file}.walletlake`
  await assertValidPath(file)
  const release = await lockOutput(folder)
  const copy = join(folder, 'copy.db')
  const versionBefore = await fileVersion(file)
  const db = await openCopy(file, { copy, open: () => new driver.Database(copy) }).catch(async (cause) => {
    await rm(folder, { recursive: true, force: true })
    await release()
    throw cause
  })
  const withEngineErrors = <T>(work: () => T, operation = `sqlite:${file}`): T => {
    try {
      return work()
    } catch (cause) {
      throw engineError(operation, cause)
    }
  }
  const query = async (statement: string) => withEngineErrors(() => db.all(statement))
  return {
    transactions: 'one',
    dialect: DIALECTS.sqlite,
    query,
    columnsSql: ({ name }) =>
      `SELECT name, type, "notnull" AS filled FROM pragma_table_info(${quoteLiteral(name)})`,
    insert: async (local, into) => {
      const inserter = openInsert(db, local.table, into)
      try {
        for await (const rows of reader.batches(local, CELL_FORMATS))
          withEngineErrors(() => inserter.rows(rows), local.name)
        return inserter.end()
      } finally {
        inserter.close()
      }
    },
    commit: async () => {
      await query('COMMIT')
      db.close()
      if ((await fileVersion(file)) !== versionBefore) throw concurrentChangeError(file)
      await publishFile(copy, file).catch((cause: unknown) => {
        throw diskError(`cannot write ${file}`, cause)
      })
    },
    rollback: async () => undefined,
    close: async () => {
      if (db.isOpen) db.close()
      await rm(folder, { recursive: true, force: true })
      await release()
    },
  }
}

async function assertValidPath(file: string): Promise<void> {
  const pathError = (reason: string) =>
    new ExportError('LOAD_FAILED', `cannot open sqlite:${file}: ${reason}`, {
      fix: 'Check the path after sqlite:, and that its folder exists and is writable.',
    })
  if (!(await isFolder(dirname(file)))) throw pathError(`there is no folder ${dirname(file)}`)
  if (await isFolder(file)) throw pathError('it is a folder, not a file')
}

/** A file's size and modification time; undefined if it does not exist. */
async function fileVersion(file: string): Promise<string | undefined> {
  const entry = await entryAt(file)
  return entry === undefined ? undefined : `${entry.size} ${entry.mtimeMs}`
}

async function openCopy(
  file: string,
  { copy, open }: { copy: string; open: () => Database },
): Promise<Database> {
  try {
    await clearLeftovers(copy)
    const entry = await entryAt(file)
    if (entry !== undefined) await copyDatabase(file, copy, entry.mode)
    const db = open()
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
    db.exec('PRAGMA cache_size = -65536; SELECT count(*) FROM sqlite_schema')
    if (entry === undefined) await chmod(copy, 0o666 & ~process.umask())
    return db
  } catch (cause) {
    throw engineError(`cannot open sqlite:${file}`, cause, {
      fix: 'Check that the path after sqlite: is a SQLite database or does not exist yet, and that its folder is writable.',
    })
  }
}

/** Removes the files of a load that was killed. */
async function clearLeftovers(copy: string): Promise<void> {
  for (const path of [copy, `${copy}-journal`, `${copy}.lock`])
    await rm(path, { recursive: true, force: true })
  await makeFolder(dirname(copy))
}

async function copyDatabase(file: string, copy: string, mode: number): Promise<void> {
  for (const suffix of ['-journal', '-wal']) {
    if (((await entryAt(`${file}${suffix}`))?.size ?? 0) === 0) continue
    throw new ExportError('OUTPUT_LOCKED', `another program has unfinished changes in ${file}${suffix}`, {
      fix: `Close the other program, or recover the file with sqlite3 ${file} 'PRAGMA wal_checkpoint(TRUNCATE)', then run again.`,
    })
  }
  await copyFile(file, copy)
  await chmod(copy, mode)
}

function concurrentChangeError(file: string): ExportError {
  return new ExportError(
    'LOAD_FAILED',
    `another program wrote to ${file} during the load; nothing was loaded`,
    {
      fix: 'Close the other program, then run the same command again.',
    },
  )
}

type Insert = {
  rows(rows: readonly TextRow[]): void
  /** Inserts the pending rows. Returns the total number of rows. */
  end(): number
  close(): void
}

/** Maximum number of values per statement, below SQLite's limit of 32,766. */
const MAX_BOUND_VALUES = 6_000

/** Inserts rows with multi-row statements. */
function openInsert(db: Database, table: Table, into: string): Insert {
  const width = table.columns.length
  const rowsPerStatement = Math.floor(MAX_BOUND_VALUES / width)
  const placeholders = `(${table.columns.map(() => '?').join(', ')})`
  const insertSql = (rows: number) =>
    `INSERT INTO ${into} (${columnList(table, DIALECTS.sqlite)}) VALUES ${Array(rows).fill(placeholders).join(', ')}`
  const full = db.prepare(insertSql(rowsPerStatement))
  let pending: (string | null)[] = []
  let count = 0
  return {
    rows: (rows) => {
      for (const row of rows) {
        for (const cell of row) pending.push(cell)
        count += 1
        if (pending.length < rowsPerStatement * width) continue
        full.run(pending)
        pending = []
      }
    },
    end: () => {
      const remainingRows = pending.length / width
      if (remainingRows > 0) db.run(insertSql(remainingRows), pending)
      return count
    },
    close: () => full.finalize(),
  }
}
