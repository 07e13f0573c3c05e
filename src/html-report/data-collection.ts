import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { countBlocks } from '../core/model/block-ranges.ts'
import { type Manifest, REJECTS_FILE } from '../core/model/manifest.ts'
import { readReports } from '../export/history/past-runs.ts'
import { type BookFiles, readReconciliation, type StoredReconciliation } from '../read/read-reconciliation.ts'

/** The runs that collected an export, and the records that they rejected. */
export type DataCollection = {
  /** Newest first. */
  runs: RunSummary[]
  /** Number of older runs that are not listed. */
  olderRuns: number
  /** Number of records that could not be normalized, by reason, most frequent first. */
  rejects: [reason: string, count: number][]
  /** The verdict of the last `reconcile`; undefined if there is none. */
  reconciliation: StoredReconciliation | undefined
}

type RunSummary = {
  startedAt: string
  state: string
  seconds: number
  requests: number
  rateLimited: number
  retries: number
  bytes: number
  rejects: number
  missingBlocks: number
}

/** Number of blocks that the service did not have. */
export const missingBlocks = ({ blocks }: Manifest): number =>
  countBlocks((blocks?.missing ?? []).map(({ fromBlock, toBlock }) => ({ from: fromBlock, to: toBlock })))

/** Runs listed on a page: the newest. */
const MAX_RUNS = 30

/** @param files those of the user that the books of the report contain */
export async function collectData(
  output: string,
  { rejects }: Manifest,
  files: BookFiles,
): Promise<DataCollection> {
  const runs: RunSummary[] = []
  let olderRuns = 0
  for await (const report of readReports(output)) {
    if (runs.length < MAX_RUNS) runs.push(toRunSummary(report))
    else olderRuns += 1
  }
  return {
    runs,
    olderRuns,
    reconciliation: await readReconciliation(output, files),
    rejects: rejects === 0 ? [] : await countRejectReasons(join(output, REJECTS_FILE)),
  }
}

function toRunSummary(report: Partial<RunSummary>): RunSummary {
  const { startedAt = '', state = '', seconds = 0, requests = 0, rateLimited = 0 } = report
  const { retries = 0, bytes = 0, rejects = 0, missingBlocks = 0 } = report
  return { startedAt, state, seconds, requests, rateLimited, retries, bytes, rejects, missingBlocks }
}

async function countRejectReasons(path: string): Promise<[string, number][]> {
  const counts = new Map<string, number>()
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { reason } = JSON.parse(line) as { reason?: unknown }
    const text = String(reason ?? 'without a reason').slice(0, 200)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 20)
}
