import { subtractRange, uniteRanges } from '../core/block-ranges.ts'
import type { Listings } from '../core/listings.ts'
import type { BlockRange } from '../core/model.ts'
import { mostOverlap, overlapTooMuch } from '../merge/external-sort.ts'
import type { SourcePlace } from '../merge/source-place.ts'
import type { Frame } from '../spool/listing.ts'
import type { Spool } from '../spool/spool.ts'
import type { WritePool } from './threads/pool.ts'
import type { Slice, SliceRows } from './write-slice.ts'

export type Slicing = {
  spool: Pick<Spool, 'settled' | 'frames'>
  /** What the run reads. */
  listings: Listings
  /** Rows of blocks before this one are there already. */
  from: number
  pool: WritePool
  /** Sorts pages into runs where too many of them overlap. */
  sortExternally: (places: readonly SourcePlace[]) => Promise<readonly SourcePlace[]>
  /** Called as the rows of a slice are staged. */
  onRows: (rows: SliceRows) => void
}

/**
 * Cuts the job's blocks into slices and has their rows made while pages still arrive: as soon as no wallet has anything
 * left to ask in enough blocks, these are a slice. The cuts do not change the rows.
 */
export type Slicer = {
  pageArrived(bytes: number): void
  /** Has the rows made of what is left; resolves with all slices, made or not, in the order of their blocks. */
  finish(range: BlockRange): Promise<readonly Promise<SliceRows>[]>
}

/** Page bytes in a slice, about: enough to be worth the call, little enough to keep every thread busy. */
const SLICE_BYTES = 2_500_000
/** So much is enough where nothing else is being made: a slice's last page is read again for the next. */
const IDLE_BYTES = 600_000
/** Pages between two looks at what has been settled: the more there is to look at, the more. */
const LOOK_EVERY = 16
/** More settled ranges than this, with holes between, are left until their holes are filled. */
const MOST_RANGES = 256

export function createSlicer(slicing: Slicing): Slicer {
  return new SettledSlicer(slicing)
}

class SettledSlicer implements Slicer {
  readonly #begun: { from: number; rows: Promise<SliceRows> }[] = []
  /** Blocks that are in slices, or were written before. */
  #gone: BlockRange[]
  readonly #lookEvery: number
  #pagesToLook: number
  #underWay = 0
  #isLast = false
  readonly #slicing: Slicing

  constructor(slicing: Slicing) {
    const { from, listings } = slicing
    this.#slicing = slicing
    this.#gone = from === 0 ? [] : [{ from: 0, to: from }]
    this.#lookEvery = Math.max(LOOK_EVERY, Math.ceil(listings.size / 4))
    this.#pagesToLook = this.#lookEvery
  }

  pageArrived(bytes: number): void {
    this.#slicing.pool.expect(bytes)
    this.#pagesToLook -= 1
    if (this.#pagesToLook <= 0) this.#beginSettled()
  }

  async finish(range: BlockRange): Promise<readonly Promise<SliceRows>[]> {
    const { spool, listings, sortExternally } = this.#slicing
    this.#isLast = true
    const frames = spool.frames(listings)
    for (const left of without(range, this.#gone)) {
      const places = await sortExternally(placesIn(frames, left))
      for (const slice of cutSlices(left, places)) this.#begin(slice)
    }
    return this.#begun.sort((a, b) => a.from - b.from).map(({ rows }) => rows)
  }

  #beginSettled(): void {
    const { spool, listings } = this.#slicing
    const settled = spool.settled(listings)
    this.#pagesToLook = Math.max(this.#lookEvery, settled.length)
    if (settled.length > MOST_RANGES) return
    const ready = settled.flatMap((range) => without(range, this.#gone))
    if (ready.length === 0) return
    const frames = spool.frames(listings)
    this.#pagesToLook = Math.max(this.#pagesToLook, Math.ceil(frames.length / 16))
    for (const range of ready) {
      const places = placesIn(frames, range)
      const enough = this.#underWay === 0 ? IDLE_BYTES : SLICE_BYTES
      if (bytesOf(places) < enough || overlapTooMuch(places)) continue
      for (const slice of cutSlices(range, places)) this.#begin(slice)
    }
  }

  #begin(slice: Slice): void {
    const { pool, onRows } = this.#slicing
    this.#gone = uniteRanges([...this.#gone, slice.range])
    this.#underWay += 1
    const rows = pool.run({ kind: 'slice', slice }, bytesOf(slice.places)).then((made) => {
      this.#underWay -= 1
      onRows(made)
      if (this.#underWay === 0 && !this.#isLast) this.#beginSettled()
      return made
    })
    // It is awaited in finish; a failure before that is no unhandled one.
    rows.catch(() => undefined)
    this.#begun.push({ from: slice.range.from, rows })
  }
}

const without = (range: BlockRange, gone: readonly BlockRange[]) =>
  gone.reduce((left, taken) => subtractRange(left, taken), [range])

export const bytesOf = (places: readonly SourcePlace[]) => places.reduce((sum, { bytes }) => sum + bytes, 0)

/** The pages that may hold items of these blocks. There may be many, in both threads: each is as small as can be. */
export function placesIn(frames: readonly Frame[], { from, to }: BlockRange): SourcePlace[] {
  const places: SourcePlace[] = []
  for (const { wallet, place, blocks, until } of frames) {
    if (blocks === null || blocks.max < from || blocks.min >= Math.min(to, until)) continue
    const { offset, bytes } = place
    const counted = until === Number.POSITIVE_INFINITY ? undefined : until
    places.push({ wallet, offset, bytes, span: spanOfBlocks(blocks), until: counted })
  }
  return places
}

const [LAST_INDEX, LAST_HASH] = [2 ** 31 - 1, '\uffff']

/** All that may lie in these blocks. */
function spanOfBlocks({ min, max }: { min: number; max: number }): SourcePlace['span'] {
  return {
    first: { block: min, index: -1, hash: '' },
    last: { block: max, index: LAST_INDEX, hash: LAST_HASH },
  }
}

/** Cuts between blocks, where about `SLICE_BYTES` of pages begin; where many pages overlap, slices are longer. */
function cutSlices(range: BlockRange, places: readonly SourcePlace[]): Slice[] {
  const target = Math.max(SLICE_BYTES, 3 * mostOverlap(places))
  const starts = places.map(({ span, bytes }) => ({ block: span?.first.block ?? range.from, bytes }))
  starts.sort((a, b) => a.block - b.block)
  const cuts = [range.from]
  let bytes = 0
  for (const start of starts) {
    // Sorted runs hold all of their pages, what lies beyond the range too.
    if (start.block >= range.to) break
    if (bytes >= target && start.block > (cuts.at(-1) ?? range.from)) {
      cuts.push(start.block)
      bytes = 0
    }
    bytes += start.bytes
  }
  return cuts.map((from, at) => {
    const slice = { from, to: cuts[at + 1] ?? range.to }
    return { range: slice, places: places.filter(({ span }) => touches(span, slice)) }
  })
}

function touches(span: SourcePlace['span'], { from, to }: BlockRange): boolean {
  return span !== null && span.first.block < to && span.last.block >= from
}
