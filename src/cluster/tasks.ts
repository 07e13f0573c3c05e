import * as v from 'valibot'
import { gapsIn, unionRanges } from '../core/model/block-ranges.ts'
import type { BlockRange, PartitionBy } from '../core/model/model.ts'
import { createPartitioner } from '../files/part-path.ts'
import { block, count, parseAs } from './schemas.ts'

/** Read wallets `[first, end)`, by number, in blocks [from, to). */
const READ_TASK_SCHEMA = v.pipe(
  v.strictObject({ kind: v.literal('read'), first: count, end: count, from: block, to: block }),
  v.check(({ first, end, from, to }) => first < end && from < to),
)
/** Write the partition of blocks [from, to), which is empty if the chain has not reached the run's first block. */
const WRITE_TASK_SCHEMA = v.pipe(
  v.strictObject({ kind: v.literal('write'), from: block, to: block }),
  v.check(({ from, to }) => from <= to),
)
const TASK_SCHEMA = v.union([READ_TASK_SCHEMA, WRITE_TASK_SCHEMA])

export const COVERED_SCHEMA = v.pipe(
  v.strictObject({ first: count, end: count, from: block, to: block, reached: block }),
  v.check(({ first, end, from, to, reached }) => first < end && from < reached && reached <= to),
)

export type ReadTask = v.InferOutput<typeof READ_TASK_SCHEMA>
export type WriteTask = v.InferOutput<typeof WRITE_TASK_SCHEMA>
/** A part of a run that any worker can process. Processing it again has the same outcome. */
export type Task = ReadTask | WriteTask
/** What pages cover: wallets [first, end) in blocks [from, to), the last wallet only up to `reached`, exclusive. */
export type Covered = v.InferOutput<typeof COVERED_SCHEMA>

/** Parses a queue entry; undefined if it is not a task or is outside the run, with this number of wallets. */
export function parseTask(
  value: unknown,
  { wallets, range }: { wallets: number; range: BlockRange },
): Task | undefined {
  const task = parseAs(TASK_SCHEMA, value)
  if (task === undefined || task.from < range.from || task.to > range.to) return undefined
  if (task.from === task.to && task.from !== range.from) return undefined
  return task.kind === 'read' && task.end > wallets ? undefined : task
}

/** The name of a task in the queue. BullMQ does not allow colons in it. */
export function nameTask(task: Task): string {
  const blocks = `${task.from}-${task.to}`
  return task.kind === 'write' ? `write-${blocks}` : `read-${task.first}-${task.end}-${blocks}`
}

/** Describes a task for messages. */
export function describeTask(task: Task): string {
  const blocks = `blocks ${task.from} to ${task.to - 1}`
  if (task.kind === 'write') return `files of ${blocks}`
  const last = task.end - 1
  return task.first === last
    ? `wallet ${task.first} in ${blocks}`
    : `wallets ${task.first} to ${last} in ${blocks}`
}

/** Maximum wallets per read task. A small wallet takes one request, and a task costs about as much as a request. */
const MAX_WALLETS_PER_TASK = 25
/** Wallets are grouped less if there would be fewer tasks than this, so that all workers have some. */
const MIN_TASKS = 200
/** A task stops at the next complete block after this many pages; the rest becomes new tasks. */
export const TASK_PAGES = 50
/** Maximum number of block ranges into which the rest of a large wallet is split. */
const MAX_SPLITS = 64

/**
 * Plans the read tasks for what the run state does not cover; none if it covers everything. Adjacent wallets
 * with the same missing blocks are grouped. Planning is deterministic, so that planning again yields the same
 * tasks.
 *
 * @param walletRanges blocks to read for each wallet, by wallet number
 */
export function planReads(walletRanges: readonly BlockRange[], covered: readonly Covered[]): ReadTask[] {
  const group = Math.min(MAX_WALLETS_PER_TASK, Math.ceil(walletRanges.length / MIN_TASKS))
  const coveredByWallet = rangesByWallet(covered)
  const tasks: ReadTask[] = []
  const open = new Map<string, ReadTask>()
  for (const [wallet, range] of walletRanges.entries()) {
    for (const { from, to } of gapsIn(unionRanges(coveredByWallet.get(wallet) ?? []), range)) {
      const key = `${from}-${to}`
      const last = open.get(key)
      if (last !== undefined && last.end === wallet && last.end - last.first < group) last.end += 1
      else {
        const task: ReadTask = { kind: 'read', first: wallet, end: wallet + 1, from, to }
        tasks.push(task)
        open.set(key, task)
      }
    }
  }
  return tasks
}

export function rangesByWallet(covered: readonly Covered[]): Map<number, BlockRange[]> {
  const byWallet = new Map<number, BlockRange[]>()
  for (const { first, end, from, to, reached } of covered) {
    for (let wallet = first; wallet < end; wallet += 1) {
      const range = { from, to: wallet === end - 1 ? reached : to }
      const existing = byWallet.get(wallet)
      if (existing === undefined) byWallet.set(wallet, [range])
      else existing.push(range)
    }
  }
  return byWallet
}

/**
 * The remaining tasks of a task that stopped early.
 *
 * @param pages pages of its last wallet so far, from which the size of the rest is estimated
 */
export function planRemaining(task: ReadTask, { end, reached }: Covered, pages: number): ReadTask[] {
  const laterWallets: ReadTask[] = end < task.end ? [{ ...task, first: end }] : []
  if (reached >= task.to) return laterWallets
  const blocksLeft = task.to - reached
  const pagesLeft = (pages * blocksLeft) / Math.max(1, reached - task.from)
  const splits = Math.max(1, Math.min(MAX_SPLITS, blocksLeft, Math.ceil(pagesLeft / TASK_PAGES)))
  const boundary = (at: number) => reached + Math.floor((blocksLeft * at) / splits)
  const own = Array.from({ length: splits }, (_, at): ReadTask => {
    return { ...task, first: end - 1, end, from: boundary(at), to: boundary(at + 1) }
  })
  return [...own, ...laterWallets]
}

/** Plans the partitions of `size` blocks each, counted from block 0. The first and the last may be shorter. */
export function planWrites({ from, to }: BlockRange, size: number): WriteTask[] {
  const starts: number[] = []
  for (let at = (Math.floor(from / size) + 1) * size; at < to; at += size) starts.push(at)
  return planWritesAt({ from, to }, starts)
}

/**
 * Plans the partitions that start at the given blocks, as days do. Blocks before the first start belong to
 * that partition.
 */
export function planWritesAt({ from, to }: BlockRange, starts: readonly number[]): WriteTask[] {
  const inside = [...new Set(starts)].filter((start) => start > from && start < to).sort((a, b) => a - b)
  const boundaries = [from, ...inside]
  return boundaries.map((start, at) => ({ kind: 'write', from: start, to: boundaries[at + 1] ?? to }))
}

/** Merges adjacent partitions that one of the ranges spans. */
export function mergeWrites(tasks: readonly WriteTask[], ranges: readonly BlockRange[]): WriteTask[] {
  const merged: WriteTask[] = []
  for (const task of tasks) {
    const last = merged.at(-1)
    const isSpanned = ranges.some(({ from, to }) => from < task.from && task.from < to)
    if (last !== undefined && isSpanned) merged.splice(-1, 1, { ...last, to: task.to })
    else merged.push(task)
  }
  return merged
}

/**
 * The first known block of each partition by time, keyed by its folder. Partitions of a fixed number of
 * blocks need none.
 */
export type PartitionStarts = { [folder: string]: number }

type DatedBlock = { block: number; timeMs: number }

/** Records the blocks of items; updates `starts` in place. */
export function recordStarts(starts: PartitionStarts, keys: readonly DatedBlock[], by: PartitionBy): void {
  if (by.startsWith('blocks:')) return
  const folderOf = createPartitioner(by)
  for (const { block, timeMs } of keys) {
    const folder = folderOf(block, timeMs)
    starts[folder] = Math.min(starts[folder] ?? block, block)
  }
}

/** Merges the starts of all reads: the first block of every partition but the first, ascending. */
export function mergeStarts(all: readonly PartitionStarts[]): number[] {
  const merged: PartitionStarts = {}
  for (const starts of all)
    for (const [folder, block] of Object.entries(starts))
      merged[folder] = Math.min(merged[folder] ?? block, block)
  // Blocks before the first partition with items belong to that partition.
  return Object.values(merged)
    .sort((a, b) => a - b)
    .slice(1)
}
