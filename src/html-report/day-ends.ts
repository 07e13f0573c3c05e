import { DAY_MS } from '../core/model/utc.ts'

/** Days with movements that are kept before months take their place, and months before years do. */
const MAX_DAYS = 400

/** The last day of the day's own period: the day itself, its month, its year. */
const PERIOD_ENDS = [(day: string) => day, lastOfMonth, (day: string) => `${day.slice(0, 4)}-12-31`] as const

/** A value at the end of each day (UTC) on which it changed; of a long history, at the end of each month or year. */
export type DaySeries = Map<string, bigint>

/**
 * Keeps values at exact ends of days. While movements fall on at most 400 days the end of every day is known; after that
 * the end of every month, then of every year. The end of a year is always known.
 */
export class DayEnds {
  readonly series = new Map<string, DaySeries>()
  #period = 0
  #days = new Set<string>()
  #first = ''
  #last = ''

  /** Takes the value after a movement; days (2023-11-14) come in order. */
  set(key: string, day: string, value: bigint): void {
    if (this.#first === '') this.#first = day
    if (day > this.#last) this.#last = day
    const end = this.#endOf(day)
    this.#days.add(end)
    const series = this.series.get(key) ?? new Map<string, bigint>()
    this.series.set(key, series.set(end, value))
    while (this.#days.size > MAX_DAYS && this.#period < PERIOD_ENDS.length - 1) this.#widen()
  }

  /**
   * Days whose ends are known exactly, in order: the day before the first movement, the days or periods with movements,
   * and the ends of months (or years) between. The last one is the day of the last movement.
   */
  days(): string[] {
    if (this.#first === '') return []
    const days = new Set([dayBefore(this.#first), this.#last])
    for (const day of this.#days) if (day < this.#last) days.add(day)
    const periodEnd = PERIOD_ENDS[Math.max(1, this.#period)] ?? lastOfMonth
    for (let end = periodEnd(this.#first); end < this.#last; end = periodEnd(dayAfter(end))) days.add(end)
    return [...days].sort()
  }

  #endOf(day: string): string {
    return (PERIOD_ENDS[this.#period] ?? lastOfMonth)(day)
  }

  #widen(): void {
    this.#period += 1
    this.#days = new Set([...this.#days].map((day) => this.#endOf(day)))
    for (const [key, series] of this.series)
      this.series.set(key, new Map([...series].map(([day, value]) => [this.#endOf(day), value])))
  }
}

function lastOfMonth(day: string): string {
  const [year, month] = day.split('-').map(Number)
  return isoDay(Date.UTC(year ?? 0, month ?? 1, 0))
}

const dayBefore = (day: string) => isoDay(Date.parse(day) - DAY_MS)
const dayAfter = (day: string) => isoDay(Date.parse(day) + DAY_MS)
const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
