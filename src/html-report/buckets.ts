import { DAY_MS } from '../core/model/utc.ts'

/** Lengths of a bucket in milliseconds; each is a multiple of the one before, so that buckets can be joined. */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const BUCKET_SIZES_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS],
  ...[7 * DAY_MS, 28 * DAY_MS, 84 * DAY_MS, 336 * DAY_MS],
]

/** Buckets from the first to the last, at most: as many as a picture can show side by side. */
const MAX_BUCKETS = 120

/** Something that is kept for each bucket; `join` makes one of a bucket's and a later one's. */
export type Series<T> = Map<number, T>

type TrackedSeries = { series: Series<unknown>; merge: (previous: never, later: never) => unknown }

/** Cuts time into buckets, longer ones as the span grows: nobody knows in advance how long it is. */
export class Buckets {
  #size = 0
  #first: number | undefined
  readonly #kept: TrackedSeries[] = []

  /** Keeps something by bucket. */
  series<T>(merge: (previous: T, later: T) => T): Series<T> {
    const series: Series<T> = new Map()
    this.#kept.push({ series: series as Series<unknown>, merge: merge as TrackedSeries['merge'] })
    return series
  }

  /** The bucket of an instant (milliseconds since 1970), which is not before those that were asked for. */
  bucketOf(ms: number): number {
    this.#first ??= ms
    while (
      this.#size < BUCKET_SIZES_MS.length - 1 &&
      this.#numberOf(ms) - this.#numberOf(this.#first) >= MAX_BUCKETS
    )
      this.#grow()
    return this.#numberOf(ms)
  }

  /** Length of a bucket, in milliseconds; a bucket begins at its number times that. */
  get sizeMs(): number {
    return BUCKET_SIZES_MS[this.#size] ?? DAY_MS
  }

  #numberOf(ms: number): number {
    return Math.floor(ms / this.sizeMs)
  }

  #grow(): void {
    const previousSizeMs = this.sizeMs
    this.#size += 1
    const factor = this.sizeMs / previousSizeMs
    for (const { series, merge } of this.#kept) {
      const old = [...series]
      series.clear()
      for (const [bucket, value] of old) {
        const mergedBucket = Math.floor(bucket / factor)
        const previous = series.get(mergedBucket)
        series.set(mergedBucket, previous === undefined ? value : merge(previous as never, value as never))
      }
    }
  }
}
