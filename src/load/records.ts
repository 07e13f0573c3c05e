import { createHash } from 'node:crypto'
import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest } from '../core/model/manifest.ts'
import { type Column, col } from '../core/table/column.ts'
import type { NamedTable } from './ddl/tables.ts'

/** One row of `walletlake_loads`: a file whose rows are in the target. */
export type LoadRecord = {
  readonly outputId: string
  readonly job: string
  /** Chain id of the file's rows; a JSON list if they have several, the job's chain id if there are no rows. */
  readonly chainId: string
  /** Name of the table without the target's prefix. */
  readonly table: string
  readonly path: string
  readonly sha256: string
  readonly fromBlock: number
  /** Exclusive. */
  readonly toBlock: number
  readonly rows: number
  /** ISO time. */
  readonly loadedAt: string
  /** Folder or URL of the output, without credentials and query string. */
  readonly location: string
  readonly addressesSha256: string
  readonly startBlock: number
}

const COLUMNS = {
  outputId: col('output_id text', 'Stable id of the output: from its name and chain.'),
  job: col('job text', 'Name of the output: its job, or what --source says.'),
  chainId: col('chain_id text', 'Chain id that rows of the file carry; a JSON list where there are several.'),
  table: col('table_name text', 'Table that the rows are in.'),
  path: col('path text', 'File of the output.'),
  sha256: col('sha256 text', 'SHA-256 of the file.'),
  fromBlock: col('from_block int64', 'First block that the file covers.'),
  toBlock: col('to_block int64', 'The block after the last one that the file covers.'),
  rows: col('row_count int64', 'Rows of the file.'),
  loadedAt: col('loaded_at time', 'When the file was loaded.'),
  location: col('location text', 'Where the output was loaded from.'),
  addressesSha256: col('addresses_sha256 text', "SHA-256 of the job's wallets."),
  startBlock: col('start_block int64', 'First block of the job.'),
} as const satisfies Record<keyof LoadRecord, Column>

/** The table that records which files were loaded into the target: one row per file. */
export const LOADS_TABLE: NamedTable = {
  name: 'walletlake_loads',
  about: 'One row per file that walletlake load has loaded into this database.',
  key: ['output_id', 'table_name', 'path'],
  columns: Object.values(COLUMNS),
}

/** Returns a record's cells in the order of the table's columns. */
export function recordCells(record: LoadRecord): (string | number)[] {
  return Object.keys(COLUMNS).map((field) => record[field as keyof LoadRecord])
}

/** Parses a row from an engine's driver: integers may be numbers, bigints or text, times a Date or text in UTC. */
export function parseLoadRecord(row: Readonly<Record<string, unknown>>): LoadRecord {
  const entries = Object.entries(COLUMNS).map(([field, { name, type }]) => {
    const cell = row[name]
    if (type === 'int64') return [field, Number(cell)]
    if (cell instanceof Date) return [field, cell.toISOString()]
    return [field, type === 'time' ? String(cell).replace(/^(\S+) (\S+)$/, '$1T$2Z') : String(cell)]
  })
  return Object.fromEntries(entries) as LoadRecord
}

/** Identifies the output of a load. Later loads of the same output replace rows of earlier ones. */
export type OutputIdentity = Pick<
  LoadRecord,
  'outputId' | 'job' | 'chainId' | 'location' | 'addressesSha256' | 'startBlock'
>

/**
 * Derives the identity from job name (or `source`) and chain, so that the output may move and its wallets may change.
 */
export function identifyOutput(
  { job }: Pick<Manifest, 'job'>,
  { location, source }: { location: string; source?: string | undefined },
): OutputIdentity {
  const name = source ?? job.name
  const outputId = createHash('sha256').update(`${name}|${job.chain}`).digest('hex').slice(0, 16)
  const { chain: chainId, addressesSha256, startBlock } = job
  return { outputId, job: name, chainId, location, addressesSha256, startBlock }
}

/**
 * Encodes the chain ids of a file's rows as one cell of its record: a single id as it is, several as a JSON list,
 * undefined for none (a file without rows). Rows have the chain id that the service returns, which may differ from the
 * job's.
 */
export function joinChainIds(ids: readonly string[]): string | undefined {
  const [only] = ids
  if (ids.length === 1 && !only?.startsWith('[')) return only
  return ids.length === 0 ? undefined : JSON.stringify(ids)
}

/** Decodes the chain ids of a recorded file's rows. */
export function chainIdsOf({ chainId }: Pick<LoadRecord, 'chainId'>): readonly string[] {
  return chainId.startsWith('[') ? (JSON.parse(chainId) as string[]) : [chainId]
}

/** Field values that distinguish the record of the manifest from those of files. */
const MANIFEST = { table: '', path: MANIFEST_FILE, fromBlock: 0, toBlock: 0, rows: 0 } as const

/** Builds the record of the manifest that was last loaded, and its location. */
export function manifestRecord(identity: OutputIdentity, manifestSha256: string): LoadRecord {
  return { ...identity, ...MANIFEST, sha256: manifestSha256, loadedAt: new Date().toISOString() }
}

/**
 * Throws USAGE if another output was loaded under this name: one with another location, and other wallets or another
 * first block. Loading this output would delete the other's rows.
 */
export function assertUniqueName(identity: OutputIdentity, records: readonly LoadRecord[]): void {
  const last = records.find(
    ({ outputId, table }) => outputId === identity.outputId && table === MANIFEST.table,
  )
  if (last === undefined || last.location === identity.location) return
  if (last.addressesSha256 === identity.addressesSha256 && last.startBlock === identity.startBlock) return
  throw new ExportError(
    'USAGE',
    `another output named ${identity.job} was loaded into this database, from ${last.location}, with other wallets or blocks`,
    { fix: 'Give this output a unique name with --source NAME, or load it from its previous location.' },
  )
}
