import { gapsIn, unionRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Covered, ReadTask, WriteTask } from './task.ts'

/** Maximum wallets per read task. A small wallet takes one request, and a task costs about as much as a request. */
const MAX_WALLETS_PER_TASK = 25
/** Wallets are grouped less if there would be fewer tasks than this, so that all workers have some. */
const MIN_TASKS = 200
/** A task stops at the next complete block after this many pages; the rest becomes new tasks. */
export const TASK_PAGES = 50
/** Maximum number of block ranges into which the rest of a large wallet is split. */
const MAX_SPLITS = 64

/** Blocks to read for each wallet, by wallet number. */
export type WalletRanges = readonly BlockRange[]

/**
 * Plans the read tasks for what the run state does not cover; none if it covers everything. Adjacent wallets
 * with the same missing blocks are grouped. Planning is deterministic, so that planning again yields the same
 * tasks.
 */
export function planReads(walletRanges: WalletRanges, covered: readonly Covered[]): ReadTask[] {
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
