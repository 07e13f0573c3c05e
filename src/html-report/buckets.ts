import { DAY_MS } from '../core/model/utc.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Bucket sizes. Each is a multiple of the previous one, so that buckets can be merged when the size grows. */
const BUCKET_SIZES_MS = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS],
  ...[7 * DAY_MS, 28 * DAY_MS, 84 * DAY_MS, 336 * DAY_MS],
]

/** Maximum number of buckets from the first to the last, empty ones included: as many as fit into a chart. */
const MAX_BUCKETS = 120

/** One value per bucket, by bucket number. */
export type Series<T> = Map<number, T>

type TrackedSeries = { series: Series<unknown>; merge: (previous: never, later: never) => unknown }

/**
 * Divides time into buckets of equal size. The length of a history is not known in advance: when there would be more than
 * `MAX_BUCKETS` buckets, the size grows and all series are merged.
 */
export class Buckets {
  #size = 0
  #first: number | undefined
  readonly #tracked: TrackedSeries[] = []

  /** Creates a series. `merge` combines the values of two buckets that become one. */
  series<T>(merge: (previous: T, later: T) => T): Series<T> {
    const series: Series<T> = new Map()
    this.#tracked.push({ series: series as Series<unknown>, merge: merge as TrackedSeries['merge'] })
    return series
  }

  /** Returns the bucket number of a time (milliseconds since 1970). Times must be passed in ascending order. */
  bucketOf(ms: number): number {
    this.#first ??= ms
    while (
      this.#size < BUCKET_SIZES_MS.length - 1 &&
      this.#numberOf(ms) - this.#numberOf(this.#first) >= MAX_BUCKETS
    )
      this.#grow()
    return this.#numberOf(ms)
  }

  /** Size of a bucket in milliseconds. Bucket `n` starts at `n * sizeMs`. */
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
    for (const { series, merge } of this.#tracked) {
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
