import { ExportError } from '../core/model/errors.ts'
import { endOfUtcDay, formatMinuteCeil, utcDay } from '../core/model/utc.ts'

/** The compute units that may be used per UTC day. */
export type DailyBudget = {
  /** Counts units that are about to be used. Throws BUDGET_REACHED, and counts nothing, if they exceed what is left. */
  count(units: number): void
  /** Units that may still be used on this day; Infinity without a limit. */
  left(): number
}

export type DailyBudgetOptions = {
  /** @default unlimited */
  perDay: number | undefined
  /** Units that were used earlier on this day. */
  used: number
  /** Time in milliseconds since 1970. @default Date.now */
  now?: () => number
}

/** Opens the budget of a command. It is renewed when the UTC day ends. */
export function openDailyBudget({ perDay, used, now = Date.now }: DailyBudgetOptions): DailyBudget {
  let [day, usedToday] = [utcDay(now()), used]
  const usedOn = (nowMs: number) => (utcDay(nowMs) === day ? usedToday : 0)
  return {
    count: (units) => {
      if (perDay === undefined) return
      const nowMs = now()
      const usedBefore = usedOn(nowMs)
      if (usedBefore + units > perDay) throw budgetReached(perDay, nowMs)
      ;[day, usedToday] = [utcDay(nowMs), usedBefore + units]
    },
    left: () => (perDay === undefined ? Number.POSITIVE_INFINITY : Math.max(0, perDay - usedOn(now()))),
  }
}

/** The error for a day whose budget is used up. */
function budgetReached(perDay: number, nowMs: number): ExportError {
  const end = formatMinuteCeil(endOfUtcDay(nowMs))
  return new ExportError(
    'BUDGET_REACHED',
    `the budget of ${perDay} compute units a day is used up until ${end}`,
    {
      fix: `Run the same command again after ${end}: it resumes where it stopped.`,
    },
  )
}
