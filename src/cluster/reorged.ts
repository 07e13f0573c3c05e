import { stat } from 'node:fs/promises'
import type { BlockRange } from '../core/model/model.ts'
import { largest, smallest } from '../core/platform/extremes.ts'
import { keyOfItem } from '../sources/data-api/parse-item-key.ts'
import { findRepeated, fingerprint, readFingerprints } from '../transform/merge/fingerprints.ts'
import { storedItems } from '../transform/merge/record-items.ts'
import { openReadPages } from './read-pages.ts'
import type { Reading } from './read-results.ts'
import { fingerprintsPath, type Record, verifiedPath } from './run-state.ts'
import type { Shown, Write } from './write-results.ts'

/** Transactions that stand in several partitions, the blocks of listings that show them, and of each the blocks from its first place to its last. */
export type Moved = { transactions: number; shown: readonly Shown[]; ranges: readonly BlockRange[] }

/**
 * Finds transactions that stand in several partitions: the chain was reorganised while pages were read, or the service
 * places a transaction differently for two wallets. Fingerprints find them, pages confirm it.
 */
export async function findMoved(record: Record, reading: Reading, writes: readonly Write[]): Promise<Moved> {
  const all = await Promise.all(writes.map((write) => fingerprintsOf(record, write)))
  const repeated = findRepeated(all)
  if (repeated.size === 0) return { transactions: 0, shown: [], ranges: [] }
  const touched = writes.filter((_, at) => holdsAny(all[at], repeated))
  const byHash = new Map<string, Shown[]>()
  for await (const { hash, ...shown } of viewsIn({ record, reading, ranges: touched, repeated })) {
    const known = byHash.get(hash)
    if (known === undefined) byHash.set(hash, [shown])
    else known.push(shown)
  }
  const moved = [...byHash.values()].filter((views) => views.some(({ block }) => block !== views[0]?.block))
  return { transactions: moved.length, shown: moved.flat(), ranges: moved.map(rangeOf) }
}

function rangeOf(views: readonly Shown[]): BlockRange {
  const blocks = views.map(({ block }) => block)
  return { from: smallest(blocks), to: largest(blocks) + 1 }
}

type Fingerprints = { path: string; bytes: number }

async function fingerprintsOf(record: Record, { token, fingerprints }: Write): Promise<Fingerprints> {
  const path = await verifiedPath(record, fingerprintsPath(token), fingerprints)
  return { path, bytes: (await stat(path)).size }
}

const holdsAny = (one: Fingerprints | undefined, wanted: ReadonlySet<number>) =>
  one !== undefined && readFingerprints(one).some((print) => wanted.has(print))

type Views = {
  record: Record
  reading: Reading
  ranges: readonly BlockRange[]
  repeated: ReadonlySet<number>
}

async function* viewsIn({ record, reading, ranges, repeated }: Views) {
  const isTouched = (from: number, to: number) => ranges.some((one) => one.from < to && one.to > from)
  for (const read of reading.reads) {
    const { chain, covered } = read
    if (!isTouched(covered.from, covered.to)) continue
    const log = await openReadPages(record, read)
    const pages = log.read(({ blocks }) => blocks !== null && isTouched(blocks.min, blocks.max + 1))
    for await (const { wallet, body } of pages) {
      for (const item of storedItems(body)) {
        const key = keyOfItem(item, chain)
        if (typeof key !== 'string' && repeated.has(fingerprint(key.hash)))
          yield { hash: key.hash, wallet, block: key.block }
      }
    }
  }
}
