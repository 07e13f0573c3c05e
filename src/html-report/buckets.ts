import { type TimeInterval, utcDay, utcHour, utcMinute, utcMonth, utcYear } from 'd3-time'
import { DAY_MS } from '../core/model/utc.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** More buckets would make the bars of a chart narrower than two pixels. */
const MAX_BUCKETS = 400
/** Buckets of less than a day are for short histories: more of them than this give way to larger ones. */
const MAX_SHORT_BUCKETS = 120

/** A bucket size of the UTC calendar. */
type BucketSize = {
  /** As in "movements by day". */
  name: string
  interval: TimeInterval
  /** The length of the shortest bucket of this size, in milliseconds. */
  minMs: number
  max: number
  /** The number of characters of an ISO timestamp that name a bucket. */
  digits: number
}

const timesOf = (name: string, interval: TimeInterval | null, minMs: number): BucketSize => ({
  name,
  interval: interval ?? utcDay,
  minMs,
  max: MAX_SHORT_BUCKETS,
  digits: '2023-11-14 22:13'.length,
})

/** Every bucket of a size is within one bucket of the next size, so that buckets can be merged when the size grows. */
const SIZES: readonly [BucketSize, ...BucketSize[]] = [
  timesOf('minute', utcMinute, MINUTE_MS),
  timesOf('5 minutes', utcMinute.every(5), 5 * MINUTE_MS),
  timesOf('15 minutes', utcMinute.every(15), 15 * MINUTE_MS),
  timesOf('hour', utcHour, HOUR_MS),
  timesOf('3 hours', utcHour.every(3), 3 * HOUR_MS),
  timesOf('6 hours', utcHour.every(6), 6 * HOUR_MS),
  timesOf('12 hours', utcHour.every(12), 12 * HOUR_MS),
  { name: 'day', interval: utcDay, minMs: DAY_MS, max: MAX_BUCKETS, digits: '2023-11-14'.length },
  { name: 'month', interval: utcMonth, minMs: 28 * DAY_MS, max: MAX_BUCKETS, digits: '2023-11'.length },
  {
    name: 'year',
    interval: utcYear,
    minMs: 365 * DAY_MS,
    max: Number.POSITIVE_INFINITY,
    digits: '2023'.length,
  },
]

/** One value per bucket, by the start of the bucket in milliseconds since 1970. */
export type Series<T> = Map<number, T>

type TrackedSeries = { series: Series<unknown>; merge: (previous: never, later: never) => unknown }

/**
 * Divides time into buckets of the UTC calendar, all of one size. The length of a history is not known in advance: when
 * there would be too many buckets, empty ones included, the size grows and all series are merged.
 */
export class Buckets {
  #size = SIZES[0]
  #first: number | undefined
  /** The bucket of the latest time: nearly all rows are in the bucket of the row before. */
  #start = 0
  #end = 0
  readonly #tracked: TrackedSeries[] = []

  /** Creates a series. `merge` combines the values of two buckets that become one. */
  series<T>(merge: (previous: T, later: T) => T): Series<T> {
    const series: Series<T> = new Map()
    this.#tracked.push({ series: series as Series<unknown>, merge: merge as TrackedSeries['merge'] })
    return series
  }

  /** Returns the start of the bucket of a time (milliseconds since 1970). Times must be passed in ascending order. */
  bucketOf(ms: number): number {
    if (ms >= this.#start && ms < this.#end) return this.#start
    this.#first ??= ms
    while ((ms - this.#startOf(this.#first)) / this.#size.minMs >= this.#size.max) this.#grow()
    this.#start = this.#startOf(ms)
    this.#end = this.endOf(this.#start)
    return this.#start
  }

  /** The name of the size, as in "movements by day". */
  get sizeName(): string {
    return this.#size.name
  }

  /** Names a bucket by its start: `2023-11-14 22:00`, `2023-11-14`, `2023-11`, `2023`. */
  nameOf(start: number): string {
    return new Date(start).toISOString().replace('T', ' ').slice(0, this.#size.digits)
  }

  /** Returns the start of the next bucket. */
  endOf(start: number): number {
    return this.#size.interval.offset(new Date(start), 1).getTime()
  }

  #startOf(ms: number): number {
    return this.#size.interval.floor(new Date(ms)).getTime()
  }

  #grow(): void {
    this.#size = SIZES[SIZES.indexOf(this.#size) + 1] ?? this.#size
    for (const { series, merge } of this.#tracked) {
      const old = [...series]
      series.clear()
      for (const [bucket, value] of old) {
        const merged = this.#startOf(bucket)
        const previous = series.get(merged)
        series.set(merged, previous === undefined ? value : merge(previous as never, value as never))
      }
    }
  }
}
