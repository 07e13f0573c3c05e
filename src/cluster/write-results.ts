import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import { walletOf } from '../core/model/listings.ts'
import { MANIFEST_FILE, type Manifest, REJECTS_FILE } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BlockRange } from '../core/model/model.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { walletsOf } from './plan.ts'
import type { ReadSelection } from './read-results.ts'
import { partitionPath, RESULT_FIELDS, taskResults, verifiedPath } from './run-state.ts'
import { block, count, listing, sha256, timeMs } from './schemas.ts'
import type { QueueRun } from './shared-requests.ts'

/** A block of a wallet's listing. */
const POSITION_SCHEMA = v.strictObject({ wallet: listing, block })
export type ListingPosition = v.InferOutput<typeof POSITION_SCHEMA>

const WRITE_SCHEMA = v.strictObject({
  ...RESULT_FIELDS,
  from: block,
  to: block,
  /** Hash of the selection of reads that it was written from. */
  reading: sha256,
  /** SHA-256 of the partition's manifest. */
  manifest: sha256,
  /** SHA-256 of the fingerprints of the partition's transactions. */
  fingerprints: sha256,
  /** Logs that are in more than one of the ERC lists of a view. */
  repeatedLogs: count,
  /** Transactions whose views contradict each other, and the listing positions of the first of them. */
  contradicted: count,
  contradictions: v.array(POSITION_SCHEMA),
  /** The decimals in its rows. */
  decimals: v.record(v.string(), v.pipe(v.array(v.pipe(v.number(), v.integer())), v.readonly())),
  /** Times of its first and last transaction. */
  times: v.nullable(v.strictObject({ first: timeMs, last: timeMs })),
})

/** The result of one execution of a write task: the export of one partition, written from one selection of reads. */
export type WriteResult = v.InferOutput<typeof WRITE_SCHEMA>

/** The write results of an attempt. */
export const WRITE_RESULTS = taskResults('writes', WRITE_SCHEMA)

/** The partitions that were written from a selection of reads, by range, each once. */
export async function listWrites(
  { plan, runState }: Pick<QueueRun, 'plan' | 'runState'>,
  { sha256 }: Pick<ReadSelection, 'sha256'>,
): Promise<Map<string, WriteResult>> {
  const all = await WRITE_RESULTS.list(runState, plan)
  const matching = all.filter(({ reading }) => reading === sha256)
  return new Map(matching.reverse().map((write) => [rangeKey(write), write]))
}

export const rangeKey = ({ from, to }: BlockRange): string => `${from}-${to}`

export type OpenedPartition = { write: WriteResult; manifest: Manifest; rejects: string[] }

/** Reads a partition's manifest and rejects. Throws OUTPUT_FAILED if they do not match their record, or the plan. */
export async function openPartition(
  { plan, runState }: Pick<QueueRun, 'plan' | 'runState'>,
  write: WriteResult,
): Promise<OpenedPartition> {
  const { token, from, to } = write
  const file = await verifiedPath(runState, partitionPath(token, MANIFEST_FILE), write.manifest)
  const manifest = parseJson(await readFile(file, 'utf8'))
  const planned = new Set(walletsOf(plan).map(({ address }) => walletOf(address)))
  const isPlanned =
    isManifest(manifest) &&
    manifest.job.chain === plan.job.chain &&
    manifest.job.startBlock === from &&
    manifest.job.endBlock === to &&
    manifest.coverage.length === planned.size &&
    manifest.coverage.every(({ address }) => planned.has(address))
  if (!isPlanned)
    throw new ExportError('OUTPUT_FAILED', `partition ${token} of the run does not belong to this job`)
  const path = runState.at(partitionPath(token, REJECTS_FILE))
  const text = manifest.rejects === 0 ? '' : await runState.objects.readText(path)
  const rejects = (text ?? '').split('\n').filter((line) => line !== '')
  if (rejects.length === manifest.rejects) return { write, manifest, rejects }
  throw new ExportError('OUTPUT_FAILED', `${path} has ${rejects.length} lines, expected ${manifest.rejects}`)
}
