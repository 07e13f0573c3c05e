import { DAY_MS } from '../core/model/utc.ts'

/** Maximum number of days with movements before only month ends are kept, and of months before only year ends are. */
const MAX_DAYS = 400

/** Functions that return the last day of the period that contains a day: the day itself, its month, its year. */
const PERIOD_ENDS = [(day: string) => day, lastOfMonth, (day: string) => `${day.slice(0, 4)}-12-31`] as const

/** A value at the end of each day (UTC) on which it changed. Long histories keep only month or year ends. */
export type DaySeries = Map<string, bigint>

/**
 * Keeps exact values at the ends of days (UTC). With up to 400 days with movements, the end of every day is known; with up
 * to 400 such months, the end of every month; beyond that, the end of every year. Year ends are always known.
 */
export class DayEnds {
  readonly series = new Map<string, DaySeries>()
  #period = 0
  #days = new Set<string>()
  #first = ''
  #last = ''

  /** Records the value after a movement. Days (`2023-11-14`) must be passed in ascending order. */
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
   * Returns the days at whose end all values are known exactly, in ascending order: the day before the first movement, the
   * days (or period ends) with movements, and the month (or year) ends between. The last one is the day of the last
   * movement.
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
