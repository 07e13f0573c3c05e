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
import { type Plan, type PlannedWallet, walletsOf } from './plan.ts'
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
 * refused wallets.
 *
 * @returns the remaining tasks if the task was too large
 */
export async function runReadTask(context: TaskContext, task: ReadTask): Promise<ReadTask[]> {
  const { plan, runState } = context
  const folder = await createScratchFolder('pages')
  try {
    const checkpoint = await openCheckpoint({
      folder,
      identity: identityOf(plan, task),
      now: Date.now(),
      onDamage: () => {},
    })
    const findings: ReadFindings = { starts: {}, newest: {}, refused: [] }
    const wallets = walletsOf(plan)
    const read = await readWallets({ ...context, checkpoint, findings, wallets }, task).finally(
      checkpoint.close,
    )
    const { covered } = read
    const addresses = wallets.slice(covered.first, covered.end).map(({ address }) => address)
    const gaps = addresses.flatMap((address) => checkpoint.gaps(address).map((gap) => ({ address, ...gap })))
    const opening = addresses.flatMap((address) => {
      const value = checkpoint.opening(address)
      return value === undefined ? [] : [{ address, value }]
    })
    const sha256 = await hashFile(checkpoint.path)
    await addResult(runState, async (token) => {
      await runState.objects.putFile(runState.at(pagesPath(token)), checkpoint.path)
      const planFields = { attempt: plan.attempt, plan: plan.sha256, chain: plan.job.chain }
      await READ_RESULTS.put(runState, {
        ...planFields,
        token,
        addresses,
        covered,
        sha256,
        gaps,
        opening,
        ...findings,
      })
    })
    return planRemaining(task, covered, read.lastPages)
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

type ReadContext = TaskContext & {
  checkpoint: Checkpoint
  findings: ReadFindings
  wallets: readonly PlannedWallet[]
}

/**
 * Reads the wallets one after the other, until all are read or `TASK_PAGES` is reached. Returns what was
 * covered and the number of pages of the last wallet.
 */
async function readWallets(
  context: ReadContext,
  task: ReadTask,
): Promise<{ covered: Covered; lastPages: number }> {
  const { first, from, to } = task
  let pages = 0
  for (let wallet = first; wallet < task.end; wallet += 1) {
    const read = await readWallet(context, { task, wallet, maxPages: TASK_PAGES - pages })
    pages += read.pages
    const covered = { first, end: wallet + 1, from, to, reached: read.reached }
    if (read.reached < to || pages >= TASK_PAGES) return { covered, lastPages: read.pages }
  }
  return { covered: { first, end: task.end, from, to, reached: to }, lastPages: pages }
}

type WalletRead = { task: ReadTask; wallet: number; maxPages: number }
type WalletProgress = { pages: number; reached: number }

/** Reads one wallet. If the service refuses this wallet only, the refusal is recorded and the wallet counts as read. */
async function readWallet(context: ReadContext, walletRead: WalletRead): Promise<WalletProgress> {
  const { refusals, checkpoint, findings, wallets } = context
  const { to } = walletRead.task
  const address = wallets[walletRead.wallet]?.address ?? ''
  try {
    return {
      pages: await readPages(context, walletRead, address),
      reached: checkpoint.remaining(address)[0]?.from ?? to,
    }
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown
    await refusals.recordRefusal(address, thrown)
    const reached = checkpoint.remaining(address)[0]?.from ?? to
    const code = thrown.code === 'KEY_REFUSED' ? 'KEY_REFUSED' : 'REQUEST_REFUSED'
    if (reached < to) findings.refused.push({ address, error: refusalMessage(thrown), code, reached })
    return { pages: 0, reached: to }
  }
}

/**
 * Reads pages in ascending block order. Stops at a complete block after `maxPages`. Resolves with the number
 * of pages.
 */
async function readPages(
  context: ReadContext,
  { task, maxPages }: WalletRead,
  address: string,
): Promise<number> {
  const { plan, requestContext, stats, refusals, checkpoint, findings } = context
  let [requested, pages] = [0, 0]
  const { from, to } = task
  const narrowRange = (rest: BlockRange) => {
    requested += 1
    return requested >= maxPages && rest.from > from ? undefined : rest
  }
  const range = { from, to }
  const cutoffMs = Number.POSITIVE_INFINITY
  const head = () => plan.range.to - 1
  const listing = openListing(plan.job, address)
  const indexedBeforeMs = indexedBeforeTime(plan.job, { cutoffMs }, stats)
  const request = { range, order: 'asc', cutoffMs, indexedBeforeMs, narrowRange, head } as const
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
