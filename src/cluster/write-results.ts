import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { walletOf } from '../core/model/listings.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Times } from '../core/model/run-stats.ts'
import type { TokenDecimals } from '../core/model/token-decimals.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { type Plan, walletsOf } from './plan.ts'
import { partitionPath, type RunState, verifiedPath } from './run-state.ts'
import { block, count, listing, sha256, timeMs, token } from './schemas.ts'
import { taskResults } from './task-results.ts'

/** The result of one execution of a write task: the export of one partition, written from one selection of reads. */
export type WriteResult = {
  attempt: string
  plan: string
  token: string
  from: number
  to: number
  /** Hash of the selection of reads that it was written from. */
  reading: string
  /** SHA-256 of the partition's manifest. */
  manifest: string
  /** SHA-256 of the fingerprints of the partition's transactions. */
  fingerprints: string
  /** Logs that are in more than one of the ERC lists of a view. */
  repeatedLogs: number
  /** Transactions whose views contradict each other, and the listing positions of the first of them. */
  contradicted: number
  contradictions: readonly ListingPosition[]
  /** The decimals in its rows. */
  decimals: TokenDecimals
  /** Times of its first and last transaction. */
  times: Times | null
}

/** A block of a wallet's listing. */
export type ListingPosition = { wallet: string; block: number }

const POSITION_SCHEMA: v.GenericSchema<unknown, ListingPosition> = v.strictObject({ wallet: listing, block })

const WRITE_SCHEMA: v.GenericSchema<unknown, WriteResult> = v.strictObject({
  attempt: token,
  plan: sha256,
  token,
  from: block,
  to: block,
  reading: sha256,
  manifest: sha256,
  fingerprints: sha256,
  repeatedLogs: count,
  contradicted: count,
  contradictions: v.array(POSITION_SCHEMA),
  decimals: v.record(v.string(), v.array(v.pipe(v.number(), v.integer()))),
  times: v.nullable(v.strictObject({ first: timeMs, last: timeMs })),
})

/** The write results of an attempt. */
export const WRITE_RESULTS = taskResults({ folder: 'writes', schema: WRITE_SCHEMA })

/** The partitions that were written from a selection of reads, by range, each once. */
export async function listWrites(
  writes: { list(): Promise<WriteResult[]> },
  reading: string,
): Promise<Map<string, WriteResult>> {
  const matching = (await writes.list()).filter((one) => one.reading === reading)
  return new Map(matching.reverse().map((one) => [rangeKey(one), one]))
}

export const rangeKey = ({ from, to }: BlockRange): string => `${from}-${to}`

/** The manifest of a partition; undefined if it does not match the write result or the plan. */
export async function readPartition(
  runState: RunState,
  plan: Plan,
  write: WriteResult,
): Promise<Manifest | undefined> {
  const path = await verifiedPath(runState, partitionPath(write.token, MANIFEST_FILE), write.manifest)
  const manifest = parseJson(await readFile(path, 'utf8'))
  if (!isManifest(manifest)) return undefined
  const { job, coverage } = manifest
  const matchesRange =
    job.chain === plan.job.chain && job.startBlock === write.from && job.endBlock === write.to
  const planned = new Set(walletsOf(plan).map(({ address }) => walletOf(address)))
  const hasAllWallets =
    coverage.length === planned.size && coverage.every(({ address }) => planned.has(address))
  return matchesRange && hasAllWallets ? manifest : undefined
}
