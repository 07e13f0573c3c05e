import type { BlockRange } from '../../../core/model/model.ts'
import type { ListingName } from '../item.ts'
import type { Window } from './read-window.ts'

/**
 * Windows that the readers of one wallet share: a listing with few records is complete after one request, whichever
 * part of the blocks a reader was assigned. They are dropped when no reader is left.
 */
export type SharedWindows = {
  /** Must be called when a reader begins. Returns what it must call when it ends. */
  open(): () => void
  /** Drops all windows, because they are outdated. */
  clear(): void
  add(listing: ListingName, window: Window): void
  /** The part of a window that begins where `order` begins in the range; undefined if there is none. */
  find(listing: ListingName, request: { range: BlockRange; order: 'asc' | 'desc' }): Window | undefined
}

export function createSharedWindows(): SharedWindows {
  const windows = new Map<ListingName, Window[]>()
  let readers = 0
  return {
    open: () => {
      readers += 1
      return () => {
        readers -= 1
        if (readers === 0) windows.clear()
      }
    },
    clear: () => windows.clear(),
    add: (listing, window) => {
      windows.set(listing, [...(windows.get(listing) ?? []), window])
    },
    find: (listing, { range, order }) => {
      const first = order === 'asc' ? range.from : range.to - 1
      const found = windows.get(listing)?.find(({ covered }) => first >= covered.from && first < covered.to)
      if (found === undefined) return undefined
      const covered = {
        from: Math.max(range.from, found.covered.from),
        to: Math.min(range.to, found.covered.to),
      }
      return { ...found, covered, records: found.records.filter(({ block }) => isWithin(block, covered)) }
    },
  }
}

export const isWithin = (block: number, { from, to }: BlockRange): boolean => block >= from && block < to
