import { DAY_MS } from '../core/model/utc.ts'

/** Lengths of a bucket in milliseconds; each is a multiple of the one before, so that buckets can be joined. */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SIZES = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS],
  ...[7 * DAY_MS, 28 * DAY_MS, 84 * DAY_MS, 336 * DAY_MS],
]

/** Buckets from the first to the last, at most: as many as a picture can show side by side. */
const MOST_BUCKETS = 120

/** Something that is kept for each bucket; `join` makes one of a bucket's and a later one's. */
export type Series<T> = Map<number, T>

type Kept = { series: Series<unknown>; join: (earlier: never, later: never) => unknown }

/** Cuts time into buckets, longer ones as the span grows: nobody knows in advance how long it is. */
export class Buckets {
  #size = 0
  #first: number | undefined
  readonly #kept: Kept[] = []

  /** Keeps something by bucket. */
  series<T>(join: (earlier: T, later: T) => T): Series<T> {
    const series: Series<T> = new Map()
    this.#kept.push({ series: series as Series<unknown>, join: join as Kept['join'] })
    return series
  }

  /** The bucket of an instant (milliseconds since 1970), which is not before those that were asked for. */
  of(ms: number): number {
    this.#first ??= ms
    while (this.#size < SIZES.length - 1 && this.#numberOf(ms) - this.#numberOf(this.#first) >= MOST_BUCKETS)
      this.#grow()
    return this.#numberOf(ms)
  }

  /** Length of a bucket, in milliseconds; a bucket begins at its number times that. */
  get sizeMs(): number {
    return SIZES[this.#size] ?? DAY_MS
  }

  #numberOf(ms: number): number {
    return Math.floor(ms / this.sizeMs)
  }

  #grow(): void {
    const before = this.sizeMs
    this.#size += 1
    const factor = this.sizeMs / before
    for (const { series, join } of this.#kept) {
      const old = [...series]
      series.clear()
      for (const [bucket, value] of old) {
        const joined = Math.floor(bucket / factor)
        const earlier = series.get(joined)
        series.set(joined, earlier === undefined ? value : join(earlier as never, value as never))
      }
    }
  }
}
