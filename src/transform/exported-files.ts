import { join } from 'node:path'
import { evmIdOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Manifest, ManifestFile } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { previewJson } from '../core/platform/json-text.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import type { PublishedPart } from '../files/publish.ts'
import { textColumns } from '../formats/column-sql.ts'
import { openDataFile, sourceSql } from '../formats/index.ts'
import { openScratchDatabase, type ScratchDatabase } from '../read/scratch-database.ts'
import type { Store } from '../storage/store.ts'

export type ExportedFiles = {
  store: Store
  manifest: Manifest
  format: Job['format']
  /** Half-open. */
  range: BlockRange
}

/**
 * Yields the hashes of the exported transactions in these blocks, in batches. A hash can occur more than
 * once.
 */
export async function* hashesInFiles({
  store,
  manifest,
  format,
  range,
}: ExportedFiles): AsyncGenerator<string[]> {
  const files = tablesToRead(tablesOf(manifest)).flatMap((table) =>
    (manifest.tables[table]?.files ?? [])
      .filter((file) => file.rows > 0 && file.fromBlock < range.to && file.toBlock > range.from)
      .map((file) => ({ table, file })),
  )
  if (files.length === 0) return
  await store.ensureLocal(files.map(({ file }) => file))
  const rows = await openScratchDatabase(store.folder)
  try {
    for (const { table, file } of files) yield* hashesIn(rows, { table, file, format, range })
  } finally {
    await rows.close()
  }
}

const tablesOf = ({ tables }: Manifest) =>
  (Object.keys(tables) as TableName[]).filter((name) => tables[name] !== undefined)

/**
 * Returns tables that together contain every transaction: `transactions` or `wallet_transactions` if
 * exported, else all.
 */
function tablesToRead(names: readonly TableName[]): readonly TableName[] {
  const complete = (['transactions', 'wallet_transactions'] as const).find((name) => names.includes(name))
  return complete === undefined ? names : [complete]
}

type FileScan = { table: TableName; file: ManifestFile; format: Job['format']; range: BlockRange }

async function* hashesIn(
  rows: ScratchDatabase,
  { table, file, format, range }: FileScan,
): AsyncGenerator<string[]> {
  const opened = await openDataFile(`${rows.folder}/${file.path}`, format, rows.scratchFolder)
  try {
    const block = 'CAST(block_number AS BIGINT)'
    const source = `FROM ${sourceSql(opened, textColumns(tableByName(table).columns))}
      WHERE ${block} >= ${range.from} AND ${block} < ${range.to}`
    for await (const batch of rows.stream(['transaction_hash'], source))
      yield batch.map(([hash]) => hash ?? '')
  } finally {
    await opened.close()
  }
}

type UnpublishedExport = {
  job: Job
  store: Pick<Store, 'folder' | 'ensureLocal'>
  /** Files that are about to be published. */
  parts: ReadonlyMap<TableName, readonly PublishedPart[]>
  /** Resolves with a local path of a part. */
  localPath: (part: PublishedPart) => Promise<string>
  /** Files of the export that this run does not replace. */
  retained: ReadonlyMap<TableName, readonly ManifestFile[]> | undefined
}

/**
 * Throws PAGE_MALFORMED if an export contains transactions of several chains. Items of other chains are
 * normally rejected when they are read. If the job names its chain by a blockchain id with an unknown EVM
 * chain id, that check is impossible: `chain_id` is then copied from the items, so the finished files are
 * compared before they are published.
 */
export async function requireOneChain({
  job,
  store,
  parts,
  localPath,
  retained,
}: UnpublishedExport): Promise<void> {
  if (evmIdOf(job.chain) !== undefined) return
  const paths: [TableName, string][] = []
  for (const table of tablesToRead([...parts.keys()]))
    for (const part of parts.get(table) ?? []) if (part.rows > 0) paths.push([table, await localPath(part)])
  // Retained files were compared with each other when they were published, so checking the smallest one is
  // enough.
  const [retainedFile] = [...(retained ?? [])]
    .flatMap(([table, files]) => files.filter(({ rows }) => rows > 0).map((file) => ({ table, file })))
    .sort((a, b) => a.file.bytes - b.file.bytes)
  if (retainedFile !== undefined) {
    await store.ensureLocal([retainedFile.file])
    paths.push([retainedFile.table, join(store.folder, retainedFile.file.path)])
  }
  if (paths.length === 0) return
  requireSameChain(job, (await findChains(paths, job, store.folder)).sort())
}

/** Returns the distinct `chain_id` values of these files. */
async function findChains(
  paths: readonly (readonly [TableName, string])[],
  { format }: Job,
  folder: string,
): Promise<string[]> {
  const rows = await openScratchDatabase(folder)
  const chains = new Set<string>()
  try {
    for (const [table, path] of paths)
      for (const chain of await chainsIn(rows, { table, path, format })) chains.add(chain)
  } finally {
    await rows.close()
  }
  return [...chains]
}

async function chainsIn(
  rows: ScratchDatabase,
  { table, path, format }: { table: TableName; path: string; format: Job['format'] },
): Promise<string[]> {
  const opened = await openDataFile(path, format, rows.scratchFolder)
  try {
    const source = sourceSql(opened, textColumns(tableByName(table).columns))
    const chains = await rows.all(`SELECT DISTINCT chain_id FROM ${source} LIMIT ${MAX_SHOWN}`)
    return chains.map(({ chain_id: chain }) => String(chain))
  } finally {
    await opened.close()
  }
}

/** Maximum number of chains that are read from a file and listed in the message. */
const MAX_SHOWN = 5

/** Throws PAGE_MALFORMED if there is more than one chain. */
export function requireSameChain(
  { name, chain }: Pick<Job, 'name' | 'chain'>,
  chains: readonly string[],
): void {
  if (chains.length < 2) return
  const chainList = chains.slice(0, MAX_SHOWN).map(previewJson).join(', ')
  throw new ExportError(
    'PAGE_MALFORMED',
    `${name}: the service lists transactions of several chains: ${chainList}`,
    {
      fix: `Name the chain of the job by its EVM chain id instead of ${chain} and run with --fresh: transactions of other chains are then rejected.`,
    },
  )
}
