import { open } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import type { Dialect } from './ddl/dialect.ts'
import { clickhouse } from './ddl/dialects/clickhouse.ts'
import { duckdb } from './ddl/dialects/duckdb.ts'
import { postgres } from './ddl/dialects/postgres.ts'
import { sqlite } from './ddl/dialects/sqlite.ts'
import { type Address, parseClickhouse, parseFile, parsePostgres } from './parse-address.ts'
import { openReader, type Reader } from './reader.ts'
import type { LoadTarget, Statements } from './target.ts'
import { openClickhouse } from './targets/clickhouse.ts'
import { openDuckdb } from './targets/duckdb.ts'
import { openPostgres } from './targets/postgres.ts'
import { openSqlite } from './targets/sqlite.ts'

type OpenTargetOptions = {
  readonly sql: Statements
  readonly unescapeFormulas: boolean
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
  /** Folder for temporary data. */
  readonly scratchFolder: string
}

type Database<Url> = {
  /** Schemes of its addresses, in lower case. */
  readonly schemes: readonly string[]
  /** How an address is written, for messages and the help. */
  readonly format: string
  readonly dialect: Dialect
  /** Returns the reason if the address is invalid. */
  readonly parse: (address: Address) => Url | string
  readonly open: (url: Url, options: OpenTargetOptions) => Promise<LoadTarget>
}

/** The parsed address of a database. */
type ParsedUrl = {
  /** Names the database without credentials and query string. */
  readonly title: string
  /** Schema of the tables, unless the user names another one. */
  readonly database?: string
}

type Connection = {
  readonly dialect: Dialect
  /** Connects. The caller must call `close`. Throws LOAD_FAILED or OUTPUT_LOCKED. */
  open(options: OpenTargetOptions): Promise<LoadTarget>
}

function database<Url extends ParsedUrl>(definition: Database<Url>) {
  const { schemes, format, dialect } = definition
  const parse = (address: Address): (Url & Connection) | string => {
    const url = definition.parse(address)
    if (typeof url === 'string') return url
    return { ...url, dialect, open: (options) => definition.open(url, options) }
  }
  return { schemes, format, parse }
}

/** Databases that rows are loaded into. To add a database, write its target and its dialect, and add an entry. */
export const DATABASES = [
  database({
    schemes: ['duckdb'],
    format: 'duckdb:FILE',
    dialect: duckdb,
    parse: parseFile,
    open: async ({ file }, options) => {
      await assertOwnDatabase('duckdb', file)
      return openDuckdb({ ...options, file })
    },
  }),
  database({
    schemes: ['sqlite'],
    format: 'sqlite:FILE',
    dialect: sqlite,
    parse: parseFile,
    open: async ({ file }, options) => {
      await assertOwnDatabase('sqlite', file)
      return withReader(options, (context) => openSqlite({ file, ...context }))
    },
  }),
  database({
    schemes: ['postgres', 'postgresql'],
    format: 'postgres://USER@HOST/DATABASE',
    dialect: postgres,
    parse: parsePostgres,
    open: (url, options) => withReader(options, (context) => openPostgres({ ...url, ...context })),
  }),
  database({
    schemes: ['clickhouse', 'clickhouses'],
    format: 'clickhouse://USER@HOST:8123/DATABASE',
    dialect: clickhouse,
    parse: parseClickhouse,
    open: (url, options) => withReader(options, (context) => openClickhouse({ ...url, ...context })),
  }),
]

/** The parsed address of a database, with its dialect and the function that connects to it. */
export type LoadableUrl = Exclude<ReturnType<(typeof DATABASES)[number]['parse']>, string>

type ReaderContext = Pick<OpenTargetOptions, 'sql'> & { readonly reader: Reader }

/** Opens a target that takes rows from a reader, and closes the reader with the target. */
async function withReader(
  options: OpenTargetOptions,
  open: (context: ReaderContext) => Promise<LoadTarget>,
): Promise<LoadTarget> {
  const reader = await openReader(options)
  try {
    const target = await open({ sql: options.sql, reader })
    return {
      ...target,
      close: async () => {
        await target.close()
        await reader.close()
      },
    }
  } catch (thrown) {
    await reader.close()
    throw thrown
  }
}

/** The magic bytes of each engine's database files, with their offset. */
const MAGIC_BYTES = {
  sqlite: { engine: 'SQLite', offset: 0, magic: 'SQLite format 3\0' },
  duckdb: { engine: 'DuckDB', offset: 8, magic: 'DUCK' },
} as const

/**
 * Throws LOAD_FAILED if the file exists, is not empty and is not a database of this engine. Runs before anything is
 * created next to the file.
 */
async function assertOwnDatabase(kind: keyof typeof MAGIC_BYTES, file: string): Promise<void> {
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
