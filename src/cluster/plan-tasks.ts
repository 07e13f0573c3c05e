import { gapsIn, unionRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Covered, ReadTask, WriteTask } from './task.ts'

/** Wallets in one unit, at most: small ones take a request each, and a unit costs about as much as one. */
const MAX_WALLETS_PER_TASK = 25
/** Fewer go together where there would be fewer units than this, for all workers to have some. */
const MIN_TASKS = 200
/** A unit stops at the next whole block once it has asked for so many pages; the rest are units of their own. */
export const TASK_PAGES = 50
/** Into so many stretches is the rest of a large wallet split at most. */
const MAX_SPLITS = 64

/** All that is to be read: of each wallet, in the order of their numbers, its blocks. */
export type WalletRanges = readonly BlockRange[]

/**
 * What is still to be read, from what the record covers: nothing where it covers all without a gap. Wallets next to each
 * other that lack the same blocks go together. Each unit is as small as it was, so that a plan made again is the same.
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

/** What a unit leaves when it stops early; `pages`: those of its last wallet. */
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

/** The partitions of so many blocks, counted from block 0, that a range lies in; the first and the last may be cut. */
export function planWrites({ from, to }: BlockRange, size: number): WriteTask[] {
  const starts: number[] = []
  for (let at = (Math.floor(from / size) + 1) * size; at < to; at += size) starts.push(at)
  return planWritesAt({ from, to }, starts)
}

/** The partitions that begin at these blocks, as days do; what lies before the first of them belongs to it. */
export function planWritesAt({ from, to }: BlockRange, starts: readonly number[]): WriteTask[] {
  const inside = [...new Set(starts)].filter((start) => start > from && start < to).sort((a, b) => a - b)
  const boundaries = [from, ...inside]
  return boundaries.map((start, at) => ({ kind: 'write', from: start, to: boundaries[at + 1] ?? to }))
}

/** The same partitions, those as one unit that a range reaches from one into another. */
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
