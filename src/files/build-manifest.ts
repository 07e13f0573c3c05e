import { createHash } from 'node:crypto'
import { DEFAULT_API } from '../core/model/api.ts'
import type {
  Coverage,
  Manifest,
  ManifestBlocks,
  ManifestFile,
  ManifestTable,
} from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import type { RefusedWallet } from '../core/model/run-stats.ts'
import type { Unknowns } from '../core/model/unknowns.ts'
import { GENERATOR } from '../core/model/version.ts'
import { smallest } from '../core/platform/extremes.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import { SCHEMA_VERSION } from '../core/table/schema-changes.ts'
import { FORMATS } from '../formats/index.ts'
import type { Part } from './write-table.ts'

export type ManifestSource = {
  job: Job
  range: BlockRange
  parts: ReadonlyMap<TableName, readonly Omit<Part, 'staged'>[]>
  /** Number of transactions by wallet; wallets without transactions are absent. */
  seen: ReadonlyMap<string, number>
  /** Block jobs only: blocks that the service does not have. */
  missing?: readonly BlockRange[]
  rejects: number
  /** Counts of transactions whose status or fee is unknown, in the whole export; undefined if an older version did not count them. */
  unknowns: Unknowns | undefined
  /** Content of the previous export that the new one retains. */
  retained?: RetainedContent | undefined
  /** By wallet, the exclusive end of the blocks that the service had indexed when it answered for the wallet. @default the end of the range */
  indexedEnds?: ReadonlyMap<string, number>
  /** Wallets whose listing the service refused, with the block up to which the export covers them. @default none */
  refused?: readonly (RefusedWallet & { toBlock: number })[]
}

export type RetainedContent = {
  /** Files of blocks before the range of this run. */
  files: ReadonlyMap<TableName, readonly ManifestFile[]>
  /** Wallets that were removed from the job. Their history is retained up to the block where it was last read. */
  removedWallets: readonly Coverage[]
}

/** Builds the manifest of an export (CONTRACT section 3). Deterministic: equal API responses give equal manifests. */
export function buildManifest(source: ManifestSource): Manifest {
  const { job, range, parts, missing, rejects, unknowns, retained } = source
  const { name, kind, chain, startBlock, endBlock = null, format, compression, partitionBy, wallets } = job
  const { nativeSymbol, wraps, atomic, internals, escapeFormulas, service } = job
  const addressesSha256 = hashAddresses(wallets)
  const coverage = describeCoverage(job, source)
  const present = coverage.filter(({ removed }) => removed !== true)
  return {
    manifestVersion: 1,
    schemaVersion: SCHEMA_VERSION,
    generator: GENERATOR,
    job: {
      name,
      ...(kind === 'blocks' ? { kind } : {}),
      chain,
      startBlock,
      endBlock,
      format,
      compression,
      ...(partitionBy === undefined ? {} : { partitionBy }),
      nativeSymbol,
      wraps,
      ...(atomic ? { atomic } : {}),
      ...(FORMATS[format].escapesFormulas ? { escapeFormulas } : {}),
      ...(kind === 'blocks' ? {} : { fees: describeFees(job, unknowns) }),
      ...(kind !== 'blocks' && internals === 'full' ? { internals } : {}),
      ...(service.api === DEFAULT_API ? {} : { api: service.api }),
      addresses: wallets.length,
      addressesSha256,
    },
    coverage,
    ...(kind === 'blocks'
      ? { blocks: describeBlocks(range, missing) }
      : {
          completeToBlock: smallest(
            present.map(({ toBlock }) => toBlock),
            range.to,
          ),
        }),
    tables: Object.fromEntries(
      [...parts].map(([table, files]) => [
        table,
        describeTable(table, [...(retained?.files.get(table) ?? []), ...files]),
      ]),
    ),
    rejects,
    ...describeUnknowns(unknowns),
  }
}

/** `listed` if a fee may be an upper bound, or the job requests listed prices. */
function describeFees({ fees }: Job, unknowns: Unknowns | undefined): 'exact' | 'listed' {
  return fees === 'listed' || (unknowns?.feesUpperBound ?? 0) > 0 ? 'listed' : 'exact'
}

function describeUnknowns(unknowns: Unknowns | undefined): Partial<Unknowns> {
  if (unknowns === undefined) return {}
  const { feesUpperBound, ...counts } = unknowns
  return feesUpperBound > 0 ? { ...counts, feesUpperBound } : counts
}

type CoverageInput = Pick<ManifestSource, 'range' | 'seen' | 'retained' | 'refused' | 'indexedEnds'>

function describeCoverage(
  { startBlock, wallets }: Job,
  { range, seen, retained, refused = [], indexedEnds }: CoverageInput,
): Manifest['coverage'] {
  const gaps = new Map(refused.map((wallet) => [wallet.address, wallet]))
  const withGap = (wallet: Coverage): Coverage => {
    const gap = gaps.get(wallet.address)
    return gap === undefined ? wallet : { ...wallet, toBlock: gap.toBlock, error: gap.error }
  }
  const present = wallets.map(({ address, label }) => ({
    address,
    fromBlock: startBlock,
    toBlock: Math.min(range.to, indexedEnds?.get(address) ?? range.to),
    transactions: seen.get(address) ?? 0,
    label,
  }))
  const removed = (retained?.removedWallets ?? []).map(({ error: _error, ...wallet }): Coverage => {
    return { ...wallet, transactions: seen.get(wallet.address) ?? 0, removed: true }
  })
  return [...present, ...removed].map(withGap).sort((a, b) => (a.address < b.address ? -1 : 1))
}

function describeBlocks(range: BlockRange, missing: readonly BlockRange[] = []): ManifestBlocks {
  const toManifestRange = ({ from, to }: BlockRange) => ({ fromBlock: from, toBlock: to })
  return { ...toManifestRange(range), missing: missing.map(toManifestRange) }
}

/** Lists the files of a table. An empty file, which only carries the columns, is listed only if no file has rows. */
function describeTable(table: TableName, all: readonly ManifestFile[]): ManifestTable {
  const filled = all.filter(({ rows }) => rows > 0)
  const parts = filled.length > 0 ? filled : all.slice(0, 1)
  return {
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    columns: tableByName(table).columns.map(({ name, type, nullable }) => ({ name, type, nullable })),
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

/** SHA-256 of the addresses of the job, in lower case, sorted and joined by line feeds. */
function hashAddresses(wallets: Job['wallets']): string {
  const lines = wallets.map(({ address }) => address).join('\n')
  return createHash('sha256').update(lines).digest('hex')
}
