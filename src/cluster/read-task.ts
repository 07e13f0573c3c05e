import { rm } from 'node:fs/promises'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { hashFile } from '../core/platform/disk.ts'
import { createScratchFolder } from '../core/platform/scratch-folder.ts'
import { indexedBeforeTime } from '../export/fetch/fetch-wallets.ts'
import { openListing } from '../export/fetch/reading.ts'
import { isRefusal, type Refusals, refusalMessage } from '../export/fetch/wallet-refusals.ts'
import type { RequestContext } from '../http/request.ts'
import { newestIndexed } from '../sources/check-page.ts'
import { type Plan, walletsOf } from './plan.ts'
import { pagesPath, READ_RESULTS, type RefusedListing } from './read-results.ts'
import { addResult, type RunState } from './run-state.ts'
import {
  type Covered,
  type PartitionStarts,
  planRemaining,
  type ReadTask,
  recordStarts,
  TASK_PAGES,
} from './tasks.ts'

export type TaskContext = {
  plan: Plan
  runState: RunState
  requestContext: RequestContext
  stats: RunStats
  /** Refusals of wallets that this worker has seen. */
  refusals: Pick<Refusals, 'recordResponse' | 'recordRefusal'>
}

/**
 * Runs a read task: stores its pages in the run state, with a record of the blocks that they cover and of
 * refused wallets. Reads the wallets one after the other, until all are read or `TASK_PAGES` is reached.
 *
 * @returns the remaining tasks if the task was too large
 */
export async function runReadTask(context: TaskContext, task: ReadTask): Promise<ReadTask[]> {
  const { plan, runState } = context
  const { first, from, to } = task
  const wallets = walletsOf(plan)
  const folder = await createScratchFolder('pages')
  try {
    const checkpoint = await openCheckpoint({
      folder,
      identity: identityOf(plan, task),
      now: Date.now(),
      onDamage: () => {},
    })
    const findings: ReadFindings = { starts: {}, newest: {}, refused: [] }
    const covered: Covered = { first, end: first, from, to, reached: to }
    let [pages, lastPages] = [0, 0]
    try {
      while (covered.end < task.end && covered.reached === to && pages < TASK_PAGES) {
        const address = wallets[covered.end]?.address ?? ''
        const reading = { ...context, checkpoint, findings, maxPages: TASK_PAGES - pages }
        lastPages = await readWallet(reading, task, address)
        pages += lastPages
        covered.end += 1
        const isRefused = findings.refused.some((refused) => refused.address === address)
        covered.reached = isRefused ? to : (checkpoint.remaining(address)[0]?.from ?? to)
      }
    } finally {
      await checkpoint.close()
    }
    const addresses = wallets.slice(first, covered.end).map(({ address }) => address)
    const sha256 = await hashFile(checkpoint.path)
    await addResult(runState, async (token) => {
      await runState.objects.putFile(runState.at(pagesPath(token)), checkpoint.path)
      await READ_RESULTS.put(runState, {
        attempt: plan.attempt,
        plan: plan.sha256,
        token,
        chain: plan.job.chain,
        addresses,
        covered,
        sha256,
        gaps: addresses.flatMap((address) => checkpoint.gaps(address).map((gap) => ({ address, ...gap }))),
        opening: addresses.flatMap((address) => {
          const value = checkpoint.opening(address)
          return value === undefined ? [] : [{ address, value }]
        }),
        ...findings,
      })
    })
    return planRemaining(task, covered, lastPages)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Identity of a task's pages, stored in the header of their file. */
export function identityOf({ job }: Plan, { from, to }: BlockRange) {
  return { chain: job.chain, startBlock: from, endBlock: to, finalityMs: 0 }
}

/** Findings from the pages of a task, updated in place. */
type ReadFindings = {
  newest: Record<string, number>
  starts: PartitionStarts
  refused: RefusedListing[]
}

type ReadContext = TaskContext & { checkpoint: Checkpoint; findings: ReadFindings; maxPages: number }

/** Reads one wallet. If the service refuses this wallet only, the refusal is recorded and the wallet counts as read. */
async function readWallet(context: ReadContext, task: ReadTask, address: string): Promise<number> {
  const { refusals, checkpoint, findings } = context
  try {
    return await readPages(context, task, address)
  } catch (error) {
    if (!isRefusal(error)) throw error
    await refusals.recordRefusal(address, error)
    const reached = checkpoint.remaining(address)[0]?.from ?? task.to
    const code = error.code === 'KEY_REFUSED' ? 'KEY_REFUSED' : 'REQUEST_REFUSED'
    if (reached < task.to) findings.refused.push({ address, error: refusalMessage(error), code, reached })
    return 0
  }
}

/**
 * Reads pages in ascending block order. Stops at a complete block after `maxPages`. Resolves with the number
 * of pages.
 */
async function readPages(context: ReadContext, { from, to }: ReadTask, address: string): Promise<number> {
  const { plan, requestContext, stats, refusals, checkpoint, findings, maxPages } = context
  let [requested, pages] = [0, 0]
  const narrowRange = (rest: BlockRange) => {
    requested += 1
    return requested >= maxPages && rest.from > from ? undefined : rest
  }
  const cutoffMs = Number.POSITIVE_INFINITY
  const head = () => plan.range.to - 1
  const listing = openListing(plan.job, address)
  const indexedBeforeMs = indexedBeforeTime(plan.job, { cutoffMs }, stats)
  const request = { range: { from, to }, order: 'asc', cutoffMs, indexedBeforeMs, narrowRange, head } as const
  for await (const page of listing.readRange(requestContext, request)) {
    refusals.recordResponse(address)
    await checkpoint.addPage(address, page)
    recordStarts(findings.starts, page.keys, plan.partitionBy)
    const { keys, indexed = newestIndexed(keys, indexedBeforeMs) } = page
    if (indexed != null) findings.newest[address] = Math.max(indexed, findings.newest[address] ?? 0)
    pages += 1
    stats.pages += 1
    stats.items += page.items
  }
  return pages
}
