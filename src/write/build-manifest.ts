import { createHash } from 'node:crypto'
import type { Manifest, ManifestTable } from '../manifest.ts'
import type { BlockRange, Job } from '../model.ts'
import { type TableName, tableNamed } from '../table/index.ts'
import { GENERATOR } from '../version.ts'
import type { Part } from './assemble-table.ts'

export type ManifestSource = {
  job: Job
  range: BlockRange
  parts: ReadonlyMap<TableName, readonly Part[]>
  /** Transactions by wallet; a wallet without any is absent. */
  seen: ReadonlyMap<string, number>
  rejects: number
}

/** What an export holds, in the manifest's words (CONTRACT section 3): the same for the same answers. */
export function buildManifest({ job, range, parts, seen, rejects }: ManifestSource): Manifest {
  const { name, chain, startBlock, endBlock = null, format, compression, wallets } = job
  const addressesSha256 = hashAddresses(job)
  return {
    manifestVersion: 1,
    schemaVersion: 1,
    generator: GENERATOR,
    job: {
      name,
      chain,
      startBlock,
      endBlock,
      format,
      compression,
      addresses: wallets.length,
      addressesSha256,
    },
    coverage: wallets.map(({ address }) => ({
      address,
      fromBlock: range.from,
      toBlock: range.to,
      transactions: seen.get(address) ?? 0,
    })),
    tables: Object.fromEntries([...parts].map(([table, files]) => [table, describeTable(table, files)])),
    rejects,
  }
}

function describeTable(table: TableName, parts: readonly Part[]): ManifestTable {
  return {
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    columns: tableNamed(table).columns.map(({ name, type, nullable }) => ({ name, type, nullable })),
    files: parts.map(({ path, rows, bytes, sha256, fromBlock, toBlock }) => ({
      path,
      rows,
      bytes,
      sha256,
      fromBlock,
      toBlock,
    })),
  }
}

/** SHA-256 of the job's addresses, lower case and sorted, with a line feed between them. */
function hashAddresses({ wallets }: Pick<Job, 'wallets'>): string {
  const lines = wallets.map(({ address }) => address).join('\n')
  return createHash('sha256').update(lines).digest('hex')
}
