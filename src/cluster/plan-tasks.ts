import { rangesBetween, uniteRanges } from '../core/model/block-ranges.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { Covered, ReadUnit, WriteUnit } from './task.ts'

/** Wallets in one unit, at most: small ones take a request each, and a unit costs about as much as one. */
const LARGEST_GROUP = 25
/** Fewer go together where there would be fewer units than this, for all workers to have some. */
const LEAST_UNITS = 200
/** A unit stops at the next whole block once it has asked for so many pages; the rest are units of their own. */
export const UNIT_PAGES = 50
/** Into so many stretches is the rest of a large wallet split at most. */
const MOST_STRETCHES = 64

/** All that is to be read: of each wallet, in the order of their numbers, its blocks. */
export type Whole = readonly BlockRange[]

/**
 * What is still to be read, from what the record covers: nothing where it covers all without a gap. Wallets next to each
 * other that lack the same blocks go together. Each unit is as small as it was, so that a plan made again is the same.
 */
export function planReads(whole: Whole, covered: readonly Covered[]): ReadUnit[] {
  const group = Math.min(LARGEST_GROUP, Math.ceil(whole.length / LEAST_UNITS))
  const found = rangesByWallet(covered)
  const units: ReadUnit[] = []
  const open = new Map<string, ReadUnit>()
  for (const [wallet, range] of whole.entries()) {
    for (const { from, to } of rangesBetween(uniteRanges(found.get(wallet) ?? []), range)) {
      const key = `${from}-${to}`
      const last = open.get(key)
      if (last !== undefined && last.end === wallet && last.end - last.first < group) last.end += 1
      else {
        const unit: ReadUnit = { kind: 'read', first: wallet, end: wallet + 1, from, to }
        units.push(unit)
        open.set(key, unit)
      }
    }
  }
  return units
}

export function rangesByWallet(covered: readonly Covered[]): Map<number, BlockRange[]> {
  const found = new Map<number, BlockRange[]>()
  for (const { first, end, from, to, reached } of covered) {
    for (let wallet = first; wallet < end; wallet += 1) {
      const one = { from, to: wallet === end - 1 ? reached : to }
      const known = found.get(wallet)
      if (known === undefined) found.set(wallet, [one])
      else known.push(one)
    }
  }
  return found
}

/** What a unit leaves when it stops early; `pages`: those of its last wallet. */
export function planRest(unit: ReadUnit, { end, reached }: Covered, pages: number): ReadUnit[] {
  const later: ReadUnit[] = end < unit.end ? [{ ...unit, first: end }] : []
  if (reached >= unit.to) return later
  const left = unit.to - reached
  const pagesLeft = (pages * left) / Math.max(1, reached - unit.from)
  const stretches = Math.max(1, Math.min(MOST_STRETCHES, left, Math.ceil(pagesLeft / UNIT_PAGES)))
  const cut = (at: number) => reached + Math.floor((left * at) / stretches)
  const own = Array.from({ length: stretches }, (_, at): ReadUnit => {
    return { ...unit, first: end - 1, end, from: cut(at), to: cut(at + 1) }
  })
  return [...own, ...later]
}

/** The partitions of so many blocks, counted from block 0, that a range lies in; the first and the last may be cut. */
export function planWrites({ from, to }: BlockRange, size: number): WriteUnit[] {
  const starts: number[] = []
  for (let at = (Math.floor(from / size) + 1) * size; at < to; at += size) starts.push(at)
  return planWritesAt({ from, to }, starts)
}

/** The partitions that begin at these blocks, as days do; what lies before the first of them belongs to it. */
export function planWritesAt({ from, to }: BlockRange, starts: readonly number[]): WriteUnit[] {
  const inside = [...new Set(starts)].filter((start) => start > from && start < to).sort((a, b) => a - b)
  const cuts = [from, ...inside]
  return cuts.map((start, at) => ({ kind: 'write', from: start, to: cuts[at + 1] ?? to }))
}

/** The same partitions, those as one unit that a range reaches from one into another. */
export function joinWrites(units: readonly WriteUnit[], ranges: readonly BlockRange[]): WriteUnit[] {
  const joined: WriteUnit[] = []
  for (const unit of units) {
    const last = joined.at(-1)
    const isReached = ranges.some(({ from, to }) => from < unit.from && unit.from < to)
    if (last !== undefined && isReached) joined.splice(-1, 1, { ...last, to: unit.to })
    else joined.push(unit)
  }
  return joined
}
