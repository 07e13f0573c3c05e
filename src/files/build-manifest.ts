import { createHash } from 'node:crypto'
import { DEFAULT_API } from '../core/model/api.ts'
import { type Gap, gapsWithin } from '../core/model/gaps.ts'
import type {
  Coverage,
  Manifest,
  ManifestBlocks,
  ManifestFile,
  ManifestTable,
  OpeningBalance,
} from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import type { RefusedWallet } from '../core/model/run-stats.ts'
import type { Unknowns } from '../core/model/unknowns.ts'
import { GENERATOR } from '../core/model/version.ts'
import { smallest } from '../core/platform/extremes.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import { SCHEMA_VERSION } from '../core/table/schema-changes.ts'
import { FORMATS } from '../formats/index.ts'
import { sourceOf } from '../sources/index.ts'
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
  /** Contracts whose rows disagree on the decimals of a token, in the whole export. @default 0 */
  decimalsConflict?: number
  /** Content of the previous export that the new one retains. */
  retained?: RetainedContent | undefined
  /** By wallet, the exclusive end of the blocks that the service had indexed when it answered for the wallet. @default the end of the range */
  indexedEnds?: ReadonlyMap<string, number>
  /** Wallets whose listing the service refused, with the block up to which the export covers them. @default none */
  refused?: readonly (RefusedWallet & { toBlock: number })[]
  /** By wallet, blocks that the service could not list completely. @default none */
  gaps?: ReadonlyMap<string, readonly Gap[]>
  /** Balances before the first block that the service reports. @default none */
  opening?: readonly OpeningBalance[]
}

export type RetainedContent = {
  /** Files of blocks before the range of this run. */
  files: ReadonlyMap<TableName, readonly ManifestFile[]>
  /** Wallets that were removed from the job. Their history is retained up to the block where it was last read. */
  removedWallets: readonly Coverage[]
}

/** Builds the manifest of an export (CONTRACT section 3). Deterministic: equal API responses give equal manifests. */
export function buildManifest(source: ManifestSource): Manifest {
  const { job, range, parts, missing, rejects, unknowns, decimalsConflict = 0, retained } = source
  const { name, kind, chain, startBlock, endBlock = null, format, compression, partitionBy, wallets } = job
  const { table, catalog } = job
  const { numbers, nativeSymbol, wraps, wrappedCoins, atomic, internals, escapeFormulas, service } = job
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
      ...(table === 'iceberg' ? { table } : {}),
      ...(numbers === 'decimal' ? { numbers } : {}),
      ...(table === 'iceberg' && catalog !== undefined ? { catalog } : {}),
      ...(partitionBy === undefined ? {} : { partitionBy }),
      nativeSymbol,
      wraps,
      ...(wrappedCoins.length > 0 ? { wrappedCoins: [...wrappedCoins] } : {}),
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
    ...(decimalsConflict > 0 ? { decimalsConflict } : {}),
    ...describeOpening(source),
  }
}

function describeOpening({ opening = [] }: ManifestSource): Pick<Manifest, 'opening'> {
  if (opening.length === 0) return {}
  return { opening: opening.toSorted((a, b) => (a.walletAddress < b.walletAddress ? -1 : 1)) }
}

/** `listed` if a fee may be an upper bound, the job requests listed prices, or the source may misstate them. */
function describeFees({ fees, service }: Job, unknowns: Unknowns | undefined): 'exact' | 'listed' {
  const mayDiffer = fees === 'listed' || sourceOf(service.api).mayMisstateGas === true
  return mayDiffer || (unknowns?.feesUpperBound ?? 0) > 0 ? 'listed' : 'exact'
}

function describeUnknowns(unknowns: Unknowns | undefined): Partial<Unknowns> {
  if (unknowns === undefined) return {}
  const { feesUpperBound, ...counts } = unknowns
  return feesUpperBound > 0 ? { ...counts, feesUpperBound } : counts
}

type CoverageInput = Pick<ManifestSource, 'range' | 'seen' | 'retained' | 'refused' | 'indexedEnds' | 'gaps'>

function describeCoverage(
  { startBlock, wallets }: Job,
  { range, seen, retained, refused = [], indexedEnds, gaps = new Map() }: CoverageInput,
): Manifest['coverage'] {
  const refusals = new Map(refused.map((wallet) => [wallet.address, wallet]))
  const withRefusal = (wallet: Coverage): Coverage => {
    const refusal = refusals.get(wallet.address)
    return refusal === undefined ? wallet : { ...wallet, toBlock: refusal.toBlock, error: refusal.error }
  }
  const withGaps = (wallet: Coverage): Coverage => {
    const listed = gapsWithin(gaps.get(wallet.address) ?? [], { from: wallet.fromBlock, to: wallet.toBlock })
    if (listed.length === 0) return wallet
    return {
      ...wallet,
      gaps: listed.map(({ listing, from, to, reason }) => {
        return { listing, fromBlock: from, toBlock: to, reason }
      }),
    }
  }
  const present = wallets.map(({ address, label }) => ({
    address,
    fromBlock: startBlock,
    toBlock: Math.min(range.to, indexedEnds?.get(address) ?? range.to),
    transactions: seen.get(address) ?? 0,
    label,
  }))
  const removed = (retained?.removedWallets ?? []).map(
    ({ error: _error, gaps: _gaps, ...wallet }): Coverage => {
      return { ...wallet, transactions: seen.get(wallet.address) ?? 0, removed: true }
    },
  )
  return [...present, ...removed]
    .map(withRefusal)
    .map(withGaps)
    .sort((a, b) => (a.address < b.address ? -1 : 1))
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
    ...notDecimalIn(parts),
    files: parts.map(({ path, rows, bytes, sha256, fromBlock, toBlock, notDecimal }) => ({
      path,
      rows,
      bytes,
      sha256,
      fromBlock,
      toBlock,
      ...(notDecimal === undefined ? {} : { notDecimal }),
    })),
  }
}

/** The number of rows of a table with a number that does not fit its decimal column, if there are any. */
export function notDecimalIn(files: readonly ManifestFile[]): Pick<ManifestTable, 'notDecimal'> {
  const sum = files.reduce((total, { notDecimal = 0 }) => total + notDecimal, 0)
  return sum === 0 ? {} : { notDecimal: sum }
}

/** SHA-256 of the addresses of the job, in lower case, sorted and joined by line feeds. */
function hashAddresses(wallets: Job['wallets']): string {
  const lines = wallets.map(({ address }) => address).join('\n')
  return createHash('sha256').update(lines).digest('hex')
}
