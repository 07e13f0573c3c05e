import type { Internal } from './internal.ts'
import type { View } from './view.ts'

/**
 * Unites partial views of one transaction, given in the order of their wallets' addresses (CONTRACT section 2, "one row
 * a fact"): ERC entries by their key, internal entries by content and largest count; the first view wins a dispute.
 */
export function uniteViews(views: Views): View {
  const [{ native, internal }] = views
  return {
    native,
    erc20: uniteByKey(views, (view) => view.erc20, byLog),
    erc721: uniteByKey(views, (view) => view.erc721, byLog),
    erc1155: uniteByKey(views, (view) => view.erc1155, byLogAndOrdinal),
    internal: views.length === 1 ? internal : uniteInternal(views.map((view) => view.internal)),
  }
}

export type Views = readonly [View, ...View[]]

type Logged = { log_index: number }
const byLog = (a: Logged, b: Logged) => a.log_index - b.log_index

type Batched = Logged & { transfer_ordinal: number }
const byLogAndOrdinal = (a: Batched, b: Batched) => byLog(a, b) || a.transfer_ordinal - b.transfer_ordinal

/** All entries in the order of their key, each key once: stable, so that the first view's entry stays. */
function uniteByKey<T>(
  views: Views,
  entriesOf: (view: View) => readonly T[],
  compare: (a: T, b: T) => number,
): readonly T[] {
  const first = entriesOf(views[0])
  if (views.length === 1 && isInOrder(first, compare)) return first
  const all = views.flatMap(entriesOf).sort(compare)
  return all.filter((entry, at) => at === 0 || compare(all[at - 1] as T, entry) !== 0)
}

function isInOrder<T>(entries: readonly T[], compare: (a: T, b: T) => number): boolean {
  for (let at = 1; at < entries.length; at += 1)
    if (compare(entries[at - 1] as T, entries[at] as T) >= 0) return false
  return true
}

function uniteInternal(lists: readonly (readonly Internal[])[]): Internal[] {
  const united: Internal[] = []
  const counts = new Map<string, number>()
  for (const list of lists) {
    const seen = new Map<string, number>()
    for (const entry of list) {
      const nth = (seen.get(entry.content) ?? 0) + 1
      seen.set(entry.content, nth)
      if (nth <= (counts.get(entry.content) ?? 0)) continue
      counts.set(entry.content, nth)
      united.push(entry)
    }
  }
  return united
}
